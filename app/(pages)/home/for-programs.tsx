import { pages } from "@/lib/http/pages";
import { CopyToken } from "./copy-token";

type ForProgramsProps = { accountId: string; isLocal: boolean };

/** A collapsed section for developers: a token to try the API with. */
export function ForPrograms({ accountId, isLocal }: ForProgramsProps) {
  return (
    <details className="fold">
      <summary>For developers: a token for a program</summary>
      <p>
        A program of yours may ask what this page shows: whether the company may run, and its credits. Give it
        a token. It lives for an hour at most, ends when you {isLocal && "sign out or "}end it above, and
        cannot make an assistant send, publish, deploy or charge: those steps wait for your approval in the
        app.
      </p>
      <CopyToken accountId={accountId} />
      <p className="quiet">
        A token is a key. Never put it into a chat, an issue or a log.{" "}
        <a href={pages.quickStart.path}>How a program uses it</a>
      </p>
    </details>
  );
}
