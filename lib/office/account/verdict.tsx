import { PostForm } from "@/app/(pages)/post-form";
import { type Account, trialEndOf } from "@/lib/accounts/account";
import { spendable } from "@/lib/accounts/credits/ledger";
import { type Facts as AccountFacts, explain } from "@/lib/accounts/explanation";
import { defaultTrialDays } from "@/lib/accounts/terms/trial";
import { readAmount } from "@/lib/billing/prices/prices";
import { dashboardUrl } from "@/lib/billing/stripe/dashboard";
import { invitationDays } from "@/lib/config/lifetimes";
import { aheadOfUtc } from "@/lib/config/time-zone";
import { inCredits } from "@/lib/office/account/credits";
import { Leaving } from "@/lib/office/account/person";
import { dayOf } from "@/lib/office/customers";
import { Facts } from "@/lib/office/facts";
import { groupsOf, State } from "@/lib/office/state";
import { Day, Instant, toTheMinute } from "@/lib/office/values";
import { inviteMany } from "@/lib/office/waitlist";
import { describeDue, licenceStateOf } from "@/lib/plans/licence-state";
import { contentsOf, type Plans } from "@/lib/plans/plan";
import { standingOf } from "@/lib/plans/standing";

type VerdictProps = {
  email: string;
  facts: AccountFacts;
  plans: Plans;
  nowMs: number;
  deletesAtMs: number | null | undefined;
  timeZone: string | null | undefined;
};

/** What support asks first: how the account is, whether its owner can sign in and its apps may run, and what it has. */
export async function showVerdict({ email, facts, plans, nowMs, deletesAtMs, timeZone }: VerdictProps) {
  const { account } = facts;
  const explained = explain(facts);
  const { subscription, invitation } = facts;
  const standing = standingOf(account, subscription, nowMs);
  const mail = facts.attempts.find(({ kind }) => kind === "invitation");
  const isInvited = (invitation?.expires_at_ms ?? 0) > nowMs && mail?.state !== "failed";
  return (
    <section className="card">
      {deletesAtMs != null && <Leaving email={email} deletesAtMs={deletesAtMs} />}
      {facts.hasAccount && (
        <div className="lights">
          <State standing={standing} groups={groupsOf(standing)} />
        </div>
      )}
      {explained.payment !== null && (
        <p>
          <b>{toTheMinute(explained.payment)}</b>
        </p>
      )}
      {explained.payment !== null && subscription?.invoice_id && describeDue(subscription) && (
        <p>
          <a className="button plain small" href={dashboardUrl(subscription.invoice_id, "invoices")}>
            Open the invoice
          </a>
        </p>
      )}
      <dl>
        <dt>Sign-in</dt>
        <dd>{toTheMinute(explained.signIn)}</dd>
        <dt>Apps</dt>
        <dd>{toTheMinute(explained.apps)}</dd>
      </dl>
      {!facts.hasAccount && !isInvited && <Invite email={email} isAgain={invitation !== undefined} />}
      {account && (
        <>
          <Facts
            facts={{
              Plan: (
                <Plan account={account} plans={plans} isPaid={facts.licensed !== undefined} nowMs={nowMs} />
              ),
              Pays: await describePay(facts, nowMs),
              Credits: inCredits(spendable(account)),
              "Account since": <Day atMs={account.created_at_ms} isFar />,
            }}
          />
          <p className="quiet">
            The owner reads: “{standing.heading}. {standing.next}” {describeClock(timeZone, nowMs)}
          </p>
        </>
      )}
    </section>
  );
}

function Invite({ email, isAgain }: { email: string; isAgain: boolean }) {
  return (
    <PostForm action={inviteMany.path} hidden={{ emails: email, plan: "trial" }} className="stack">
      <p className="effect">
        They get a mail with a link that is good for {invitationDays} days. Nothing is charged.
      </p>
      <button type="submit">
        {isAgain ? "Invite again, to a trial of" : "Invite to a trial of"} {defaultTrialDays} days
      </button>
    </PostForm>
  );
}

type PlanProps = { account: Account; plans: Plans; isPaid: boolean; nowMs: number };

/** What it has, and for how long. */
function Plan({ account, plans, isPaid, nowMs }: PlanProps) {
  const title = plans.get(contentsOf(account, plans)?.plan ?? "")?.title;
  if (!title) return "cannot be read";
  const endsAtMs = account.given_ends_at_ms ?? trialEndOf(account);
  return (
    <>
      {title}
      <small>
        {isPaid ? (
          "while it is paid"
        ) : endsAtMs == null ? (
          "given for good"
        ) : (
          <>
            {endsAtMs <= nowMs ? "ended" : "until"} <Instant atMs={endsAtMs} />
          </>
        )}
      </small>
    </>
  );
}

/** What it pays now, and until when that is. */
async function describePay({ subscription }: AccountFacts, nowMs: number) {
  if (!subscription || subscription.licence_until_ms <= nowMs) return "nothing";
  const { price_id, currency } = subscription;
  const state = licenceStateOf(subscription);
  const [when, atMs] = dayOf(subscription, state, nowMs);
  const words = when === "since" || when === "due" ? `${state}, ${when}` : when;
  return (
    <>
      {(price_id && (await readAmount(price_id, currency ?? undefined, nowMs))) ?? price_id ?? "–"}{" "}
      <small>
        {words} <Day atMs={atMs} />
      </small>
    </>
  );
}

const hours = new Intl.DateTimeFormat("en-GB", { timeStyle: "short", timeZone: "UTC" });

/** In which zone an owner reads times, and what time it is there. */
function describeClock(zone: string | null | undefined, nowMs: number): string {
  const aheadMs = aheadOfUtc(zone, nowMs);
  if (aheadMs === undefined) return "They have chosen no time zone, so mails to them have UTC.";
  return `Their time zone is ${zone}, where it is ${hours.format(nowMs + aheadMs)} now.`;
}
