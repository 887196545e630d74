import { spendable } from "@/lib/accounts/credits/ledger";
import { graceMs } from "@/lib/accounts/leaving/leaving";
import { isRecentlyConfirmed } from "@/lib/auth/sessions/owner-confirmation";
import { settings } from "@/lib/config/settings";
import { forms } from "@/lib/http/register/forms";
import { pages } from "@/lib/http/register/pages";
import { liveOf } from "@/lib/plans/licence-state";
import { Clock } from "../../clock";
import { PostForm } from "../../post-form";
import { Confirm, type ProvingVisit } from "../access/sign-in-methods";
import { formatCredits } from "../billing/format-credits";

/** How an owner deletes their account, and takes that back. */
export function Leave(visit: ProvingVisit) {
  const { account, query, isLocal, ways, own, nowMs } = visit;
  const { id, deletes_at_ms: deletesAtMs } = account;
  const { supportEmail } = settings();
  const isConfirmed = isRecentlyConfirmed(own?.confirmed_at_ms, nowMs);
  const losses = lossesOf(visit);
  if (deletesAtMs !== null) return <Leaving id={id} deletesAtMs={deletesAtMs} nowMs={nowMs} />;
  return (
    <section className="setting" id="leave">
      <div>
        <h2>Delete your account</h2>
        <p className="quiet">
          {losses.length > 0 && `You lose ${losses.join(" and ")}. `}Deleting costs nothing
          {isLocal && ", and you have a day to change your mind"}.
        </p>
      </div>
      <div>
        {query.kept !== undefined && <p role="status">Your account stays.</p>}
        {!isLocal && (
          <>
            <Consequences {...visit} />
            <p>
              Your sign-in is at Clerk: choose your picture at the top of this page, then “Manage account”,
              “Security” and “Delete account”. Your account here ends with it, at once and for good.
              {supportEmail && ` If you do not find it there, write to ${supportEmail}.`}
            </p>
          </>
        )}
        {isLocal && (
          <details className="confirm">
            <summary className="button danger">Delete my account</summary>
            <Consequences {...visit} />
            {!isConfirmed && <Confirm account={account} ways={ways} place="leave" />}
            {isConfirmed && (
              <PostForm action={forms.leave.path} hidden={{ account: id }}>
                <p>We send you an email with a link that keeps the account.</p>
                <button type="submit" className="danger">
                  Delete in 24 hours
                </button>
              </PostForm>
            )}
          </details>
        )}
      </div>
    </section>
  );
}

function Leaving({ id, deletesAtMs, nowMs }: { id: string; deletesAtMs: number; nowMs: number }) {
  const isOver = deletesAtMs <= nowMs;
  return (
    <section className="setting" id="leave">
      <div>
        <h2>{isOver ? "Your account is being deleted" : "Your account will be deleted"}</h2>
        {!isOver && <p className="quiet">Until then nothing changes.</p>}
      </div>
      <div>
        <p>
          You asked for that. {isOver ? "It is due since" : "It will be deleted on"}{" "}
          <Clock atMs={deletesAtMs} shows="day and time" />.
        </p>
        {!isOver && (
          <PostForm action={forms.stay.path} hidden={{ account: id }}>
            <button type="submit">Keep my account</button>
          </PostForm>
        )}
      </div>
    </section>
  );
}

/** The plan and the credits that go with an account, if it has them. */
function lossesOf({ account, state, contents, plans }: ProvingVisit): string[] {
  const credits = spendable(account);
  return [
    ...(state.status === "trial-ended" ? [] : [`your plan “${plans.get(contents.plan)?.title}”`]),
    ...(credits > 0 ? [`your ${formatCredits(credits)} credits`] : []),
  ];
}

function Consequences(visit: ProvingVisit) {
  const { bought, nowMs } = visit;
  const [licence] = liveOf(bought?.subscriptions ?? []);
  const renews = licence?.ends_at_ms === null && licence.period_ends_ms <= nowMs + graceMs;
  return (
    <>
      <p>
        <strong>What goes:</strong>{" "}
        {[...lossesOf(visit), "your email everywhere, your browsers, apps and passkeys"].join("; ")}. Your
        apps stop at their next check.
      </p>
      <p>
        <strong>What stays:</strong> the history of credits and emails under another id, which names no one,
        and a fingerprint of your email, which can’t be turned back into it.{" "}
        <a href={settings().privacyUrl ?? pages.privacy.path}>Privacy</a> has the details.
        {settings().billing && " Stripe keeps its invoices, as the law requires."}
      </p>
      {licence && (
        <p>
          <strong>What you pay:</strong> your plan ends with the account, and is not billed again.{" "}
          {settings().billing?.refunds}
          {renews && (
            <>
              {" "}
              It renews on <Clock atMs={licence.period_ends_ms} shows="day and time" />, before that: to pay
              no more, cancel it first on <a href={pages.billing.path}>Billing</a>.
            </>
          )}
        </p>
      )}
    </>
  );
}
