import { forms } from "@/lib/http/register/forms";
import { pages } from "@/lib/http/register/pages";

/** A token to try the API with. */
export function ForPrograms({ accountId, isLocal }: { accountId: string; isLocal: boolean }) {
  return (
    <section className="card">
      <h2>A token for a program</h2>
      <p>
        With it, your program reads your plan and your credits, and nothing else. It is valid for an hour at
        most and ends when you {isLocal && "sign out or "}end it here.
      </p>
      <div className="stack">
        <button type="button" data-mints={forms.mintToken.path} data-account={accountId}>
          Copy a token
        </button>
        <noscript>
          <p>Copying a token needs JavaScript.</p>
        </noscript>
        <p role="status" className="status" data-kept="" />
        <textarea aria-label="Token" readOnly rows={4} hidden data-kept="" />
      </div>
      <p className="quiet">
        Treat a token like a password. Never put it into a chat, an issue or a log.{" "}
        <a href={pages.quickStart.path}>How to use it</a>
      </p>
    </section>
  );
}
