import { store } from "@/lib/db/store";
import type { Tables } from "@/lib/db/tables";
import { handlePage } from "@/lib/http/page";
import { forms } from "@/lib/http/register/forms";
import { pages } from "@/lib/http/register/pages";
import {
  type ChangeToken,
  findEmailChange,
  isWaiting,
  readChangeToken,
} from "@/lib/mail/links/email-change-token";
import { Clock } from "../clock";
import { narrow } from "../html-page";
import { PostForm } from "../post-form";
import { findProblem, ProblemNote } from "../problem";

type Change = Tables["email_changes"];
type State = "asks" | "waits" | "changed" | "ended" | "invalid";

/** Asks one of the two mailboxes about a change of email, and changes nothing: link scanners open every link. */
export const { GET } = handlePage(pages.emailChange, narrow, async ({ url, nowMs }) => {
  const token = url.searchParams.get("token") ?? "";
  const link = readChangeToken(token);
  const change = link && (await findEmailChange(await store(), link.id));
  const state = link ? stateOf(change, link, nowMs) : "invalid";
  const isStopping = link?.side === "from" && url.searchParams.has("stop");
  const problem = findProblem(url);
  return {
    title: state === "asks" && isStopping ? "Stop the change of your email?" : titles[state],
    problem,
    status: state === "invalid" ? 400 : 200,
    content: (
      <>
        <ProblemNote problem={problem} />
        {link && change && state === "asks" && (
          <Asks change={change} side={link.side} token={token} isStopping={isStopping} />
        )}
        {link && change && state === "waits" && <Waits change={change} side={link.side} token={token} />}
        {change && state === "changed" && (
          <p>
            The account has the email <strong>{change.to_email}</strong> now. Sign-in codes go there. You can
            close this page.
          </p>
        )}
        {state === "ended" && (
          <p>
            It was stopped, replaced by a newer request, could not be carried out, or not everyone confirmed
            it in a day. The account has the email that it had.
          </p>
        )}
        {state === "invalid" && (
          <p>The link is incomplete or was changed. Open the newest one, exactly as it was sent.</p>
        )}
      </>
    ),
  };
});

const titles: Record<State, string> = {
  asks: "Change the email of the account?",
  waits: "One mailbox is left",
  changed: "The email was changed",
  ended: "This change has ended",
  invalid: "This link does not work",
};

/** A request that is not kept any more was not carried out, or long ago. */
function stateOf(change: Change | undefined, { side }: ChangeToken, nowMs: number): State {
  if (!change) return "ended";
  if (change.changed_at_ms !== null) return "changed";
  if (!isWaiting(change, nowMs)) return "ended";
  return change[`${side}_confirmed_at_ms`] === null ? "asks" : "waits";
}

type AskedProps = { change: Change; side: ChangeToken["side"]; token: string };

function Asks({ change, side, token, isStopping }: AskedProps & { isStopping: boolean }) {
  return (
    <>
      {side === "from" ? (
        <p>
          Your account is to move from <strong>{change.from_email}</strong> to{" "}
          <strong>{change.to_email}</strong>.
        </p>
      ) : (
        <p>
          An account is to get the email <strong>{change.to_email}</strong>. Confirm it only if it is your
          account and you asked for that.
        </p>
      )}
      <PostForm action={forms.answerEmailChange.path} hidden={{ token }} className="actions">
        {!isStopping && (
          <button type="submit" name="answer" value="confirm">
            {side === "from" ? "Confirm the change" : "Confirm my address"}
          </button>
        )}
        {side === "from" && <Stop />}
      </PostForm>
      <Until change={change} />
    </>
  );
}

function Waits({ change, side, token }: AskedProps) {
  const [other, email] = side === "from" ? ["new", change.to_email] : ["old", "the old email"];
  return (
    <>
      <p>
        {change.asked_by
          ? `We were asked to move the account to ${change.to_email}, which can confirm that with a link that we mail a day later.`
          : `${side === "from" ? "The old email has" : "You have"} confirmed it. We mailed ${email} too: once the link in the mail to the ${other} one is confirmed, the email changes.`}
      </p>
      {side === "from" && (
        <PostForm action={forms.answerEmailChange.path} hidden={{ token }}>
          <Stop />
        </PostForm>
      )}
      <Until change={change} />
    </>
  );
}

const Stop = () => (
  <button type="submit" name="answer" value="stop" className="danger">
    Stop the change
  </button>
);

const Until = ({ change }: { change: Change }) => (
  <p className="quiet">
    Nothing has changed yet. The link works until <Clock atMs={change.until_ms} shows="day and time" />.
  </p>
);
