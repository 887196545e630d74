import { emailChangeMs, findWaiting } from "@/lib/accounts/email-change";
import { isRecentlyConfirmed } from "@/lib/auth/sessions/owner-confirmation";
import { forms } from "@/lib/http/register/forms";
import { Clock } from "../../clock";
import { EmailField } from "../../email-form";
import { Icon } from "../../icons";
import { PostButton, PostForm } from "../../post-form";
import { readPart } from "../../read-part";
import { Confirm, type ProvingVisit } from "../access/sign-in-methods";

type Waiting = NonNullable<Awaited<ReturnType<typeof findWaiting>>>;

/** The change of email that waits, if there is one that can be read. */
export function readWaiting(accountId: string, nowMs: number): Promise<Waiting | undefined> {
  return readPart("a change of email could not be read", (db) => findWaiting(db, accountId, nowMs));
}

type EmailProps = ProvingVisit & { waiting: Waiting | undefined };

/** The account's email, and how its owner changes it. */
export function Email({ account, query, isLocal, ways, own, waiting, problem, nowMs }: EmailProps) {
  const isConfirmed = isRecentlyConfirmed(own?.confirmed_at_ms, nowMs);
  return (
    <section className="setting" id="address">
      <div>
        <h2>Sign-in email</h2>
        <p className="quiet">Sign-in codes and every email about your account go to this address.</p>
      </div>
      <div>
        {query.stopped !== undefined && <p role="status">The change was stopped. Your email stays.</p>}
        <p className="who">{account.email}</p>
        {!isLocal && (
          <p>
            Your sign-in is at Clerk: choose your picture at the top of this page, then “Manage account” and
            “Email addresses”. Once the new one is the primary one there, it is the one here too.
          </p>
        )}
        {waiting && <Waits {...{ waiting, accountId: account.id }} />}
        {isLocal && !waiting && (
          <details className="confirm" open={query.change !== undefined || problem?.isTyped}>
            <summary className="button plain">Change email</summary>
            {isConfirmed ? (
              <PostForm
                action={forms.askForEmail.path}
                hidden={{ account: account.id }}
                className="stack"
                noValidate
              >
                <label htmlFor="email">New email</label>
                <EmailField problem={problem} />
                <p className="quiet">
                  We email both addresses. Nothing changes until both have confirmed, within{" "}
                  {emailChangeMs / 3_600_000} hours.
                </p>
                <button type="submit">Send the emails</button>
              </PostForm>
            ) : (
              <Confirm account={account} ways={ways} place="email" />
            )}
          </details>
        )}
      </div>
    </section>
  );
}

function Waits({ waiting, accountId }: { waiting: Waiting; accountId: string }) {
  const mailboxes = [
    [waiting.from_email, waiting.from_confirmed_at_ms],
    [waiting.to_email, waiting.to_confirmed_at_ms],
  ] as const;
  return (
    <>
      <p role="status">
        {waiting.asked_by && "We were asked to move this account, because its owner cannot read its email. "}
        It becomes <strong>{waiting.to_email}</strong> once both addresses have confirmed it, by the link of
        the email that we sent to each. The links work until{" "}
        <Clock atMs={waiting.until_ms} shows="day and time" />.
      </p>
      <ul className="facts">
        {mailboxes.map(([email, confirmedAtMs]) => (
          <li key={email}>
            <Icon name={confirmedAtMs === null ? "clock" : "check"} /> {email}:{" "}
            {confirmedAtMs === null ? "waits for its link" : "confirmed"}
          </li>
        ))}
      </ul>
      <PostButton action={forms.stopEmailChange.path} hidden={{ account: accountId }} look="plain">
        Stop the change
      </PostButton>
    </>
  );
}
