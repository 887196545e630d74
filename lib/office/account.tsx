import type { ReactNode } from "react";
import { PostForm } from "@/app/(pages)/post-form";
import { Light } from "@/app/(pages)/status-light";
import { type Account, trialEndOf } from "@/lib/accounts/account";
import { namesOf } from "@/lib/accounts/audit-trail";
import { openHolds } from "@/lib/accounts/credits/holds";
import { selectLedger, spendable } from "@/lib/accounts/credits/ledger";
import {
  type Facts as AccountFacts,
  explain,
  type FactRows,
  factQueries,
  toAccountFacts,
} from "@/lib/accounts/explanation";
import { answerEntitlement } from "@/lib/accounts/terms/entitlement";
import { defaultTrialDays } from "@/lib/accounts/terms/trial";
import { addCreditsAct } from "@/lib/admin/credits";
import { endSessionAct } from "@/lib/admin/session";
import { selectAppAnswers, withEnds } from "@/lib/auth/sessions/app-answers";
import { readAmount } from "@/lib/billing/prices/prices";
import { answerDays, invitationDays } from "@/lib/config/lifetimes";
import { moneyInWords } from "@/lib/config/money";
import { aheadOfUtc } from "@/lib/config/time-zone";
import { accountBy } from "@/lib/db/account-by";
import { auditEntries } from "@/lib/db/audit";
import { readInOneQuery } from "@/lib/db/read-in-one-query";
import { ApiError } from "@/lib/http/errors";
import { selectEmails } from "@/lib/mail/outbox/onboarding-outbox";
import { Credits, inCredits } from "@/lib/office/account/credits";
import { DangerZone, Export, Leaving, personForms } from "@/lib/office/account/person";
import { Sessions } from "@/lib/office/account/sessions";
import { setTerms, Terms } from "@/lib/office/account/terms";
import { formOf } from "@/lib/office/act-form";
import { Change, Deed } from "@/lib/office/audit";
import { dayOf } from "@/lib/office/customers";
import { Facts } from "@/lib/office/facts";
import { addressOf, type OfficeCall, type OfficePage, requireEmail } from "@/lib/office/page";
import { Table } from "@/lib/office/table";
import { Ago, AtStripe, Day, Instant, MailState, toTheMinute, UntrustedText } from "@/lib/office/values";
import { inviteMany } from "@/lib/office/waitlist";
import { describeDue, licenceStateOf } from "@/lib/plans/licence-state";
import { contentsOf, type Plans, readPlans } from "@/lib/plans/plan";
import { standingOf } from "@/lib/plans/standing";

export const account: OfficePage = {
  path: "/account",
  section: "/accounts",
  title: requireEmail,
  show,
  acts: [setTerms, formOf(addCreditsAct), formOf(endSessionAct), ...personForms],
};

const maxRows = 20;

async function show(call: OfficeCall) {
  const { db, nowMs } = call;
  const email = requireEmail(call);
  const id = accountBy(db, "email", email).select("id").$asScalar();
  const found = await readInOneQuery(db, {
    ...factQueries(db, email, nowMs),
    passkeys: db
      .selectFrom("passkeys")
      .select(["name", "added_at_ms", "last_used_at_ms"])
      .where("account_id", "=", id)
      .orderBy("added_at_ms"),
    clock: accountBy(db, "email", email).select("time_zone"),
    answers: selectAppAnswers(db, id).limit(maxRows),
    onboarding: selectEmails(db, id),
    entries: selectLedger(db, id, "<").limit(maxRows),
    holds: openHolds(db, id, nowMs).limit(maxRows),
    changes: auditEntries(db, { whom: await namesOf(db, email) }).limit(maxRows),
  });
  const facts = toAccountFacts(found, nowMs);
  const explained = explain(facts);
  const current = facts.account;
  const plans = await readPlans(db);
  const state = standingOf(current, facts.subscription, nowMs);
  const answer = current && (await answerInJson(current, plans, nowMs));
  return (
    <>
      <section className="card">
        {found.accounts[0]?.deletes_at_ms != null && (
          <Leaving email={email} deletesAtMs={found.accounts[0].deletes_at_ms} />
        )}
        {facts.hasAccount && (
          <div className="lights">
            <Light colour={state.light[0]}>{state.light[1]}</Light>
            <span className="tag">{state.tag}</span>
          </div>
        )}
        {explained.payment !== null && (
          <p>
            <b>{toTheMinute(explained.payment)}</b>
          </p>
        )}
        <p>{toTheMinute(explained.signIn)}</p>
        <p>{toTheMinute(explained.apps)}</p>
        {current && (
          <>
            <Facts
              facts={{
                Plan: plans.get(contentsOf(current, plans)?.plan ?? "")?.title ?? "cannot be read",
                Pays: await describePay(facts, nowMs),
                Ends: <Ends account={current} licence={facts.licensed && facts.subscription} />,
                Credits: inCredits(spendable(current)),
                "Account since": <Day atMs={current.created_at_ms} isFar />,
              }}
            />
            <p className="quiet">
              The owner reads: “{state.heading}. {state.next}” {describeClock(found.clock[0], nowMs)}
            </p>
          </>
        )}
      </section>
      <div className={current && "two-columns"}>
        {current && (
          <div>
            <Terms
              call={call}
              plans={plans}
              account={current}
              given={facts.given ?? current}
              licensed={facts.licensed}
            />
            <Subscriptions {...found} />
            <Credits
              call={call}
              account={current}
              entries={found.entries}
              holds={found.holds}
              most={maxRows}
            />
            <Sessions call={call} email={current.email} sessions={facts.sessions} nowMs={nowMs} />
          </div>
        )}
        <div>
          {(!facts.hasAccount || facts.waiting || facts.invitation) && (
            <>
              <h2>Invitation and waitlist</h2>
              <dl>
                <dt>Joined the waitlist</dt>
                <dd>{facts.waiting ? <Instant atMs={facts.waiting.joined_at_ms} /> : "no"}</dd>
                <dt>Open invitation until</dt>
                <dd>{facts.invitation ? <Instant atMs={facts.invitation.expires_at_ms} /> : "none"}</dd>
              </dl>
            </>
          )}
          {!facts.hasAccount && !facts.invitation && (
            <PostForm action={inviteMany.path} hidden={{ emails: email, plan: "trial" }} className="stack">
              <p className="effect">
                They get a mail with a link that is good for {invitationDays} days. Nothing is charged.
              </p>
              <button type="submit" className="plain">
                Invite to a trial of {defaultTrialDays} days
              </button>
            </PostForm>
          )}
          {facts.hasAccount && (
            <>
              <Notes
                title="What apps were told"
                rows={withEnds(found.answers, facts.ended).slice(0, maxRows)}
                whenEmpty={`None has asked in ${answerDays} days.`}
              >
                {({ app, told, at_ms, why }) => (
                  <>
                    <UntrustedText>{app ?? "–"}</UntrustedText>: {told} <Ago atMs={at_ms} /> {why}
                  </>
                )}
              </Notes>
              <Notes title="Passkeys" rows={found.passkeys} whenEmpty="None.">
                {({ name, added_at_ms, last_used_at_ms }) => (
                  <>
                    <UntrustedText>{name}</UntrustedText> <Ago atMs={added_at_ms} before="added" />
                    {last_used_at_ms !== null && <Ago atMs={last_used_at_ms} before="last used to sign in" />}
                  </>
                )}
              </Notes>
            </>
          )}
          <Notes
            title="Codes of the last day"
            rows={facts.codes}
            whenEmpty="None was asked for, or the last one has signed them in."
          >
            {({ created_at_ms, expires_at_ms, tries }) => (
              <>
                {tries} wrong {tries === 1 ? "try" : "tries"} <Ago atMs={created_at_ms} before="asked for" />
                <Ago atMs={expires_at_ms} before="valid until" />
              </>
            )}
          </Notes>
          <Notes
            title="Mails"
            rows={[
              ...facts.attempts,
              ...found.onboarding.map(({ kind, ...mail }) => ({ ...mail, kind: kind.replaceAll("-", " ") })),
            ]}
            whenEmpty="No mails."
          >
            {({ kind, at_ms, state, failure }) => (
              <>
                <MailState state={state} /> <span>{kind}</span> <Ago atMs={at_ms} />
                {failure !== null && (
                  <small>
                    <UntrustedText>{failure}</UntrustedText>
                  </small>
                )}
              </>
            )}
          </Notes>
          <Notes title="History" rows={found.changes} whenEmpty="Nothing was done yet.">
            {({ who, what, at_ms, ...states }) => (
              <>
                <Deed who={who} what={what} /> <Ago atMs={at_ms} />
                <small>
                  <Change {...states} />
                </small>
              </>
            )}
          </Notes>
          <p>
            <a href={addressOf("/audit", { whom: email })}>All changes of this person</a>
          </p>
        </div>
      </div>
      {answer && (
        <details className="fold">
          <summary>What apps are told: the answer of GET /api/entitlement</summary>
          <pre>
            <code>{answer}</code>
          </pre>
        </details>
      )}
      <Export email={email} />
      <DangerZone email={email} account={found.accounts[0]} call={call} />
    </>
  );
}

/** What it pays now, and until when that is. */
async function describePay({ subscription }: AccountFacts, nowMs: number): Promise<ReactNode> {
  if (!subscription || subscription.licence_until_ms <= nowMs) return "nothing";
  const { price_id, currency } = subscription;
  const state = licenceStateOf(subscription);
  const [when, atMs] = dayOf(subscription, state, nowMs);
  const words = when === "since" || when === "due" ? `${state}, ${when}` : (when ?? state);
  return (
    <>
      {(price_id && (await readAmount(price_id, currency ?? undefined, nowMs))) ?? price_id ?? "–"}{" "}
      <small>
        {words} <Day atMs={atMs} />
      </small>
    </>
  );
}

/** When what it has ends by itself. */
function Ends({ account, licence }: { account: Account; licence: AccountFacts["subscription"] }) {
  const atMs = account.given_ends_at_ms ?? trialEndOf(account) ?? licence?.ends_at_ms ?? null;
  if (atMs === null) return licence ? "when it is paid no more" : "never";
  return <Day atMs={atMs} />;
}

const hours = new Intl.DateTimeFormat("en-GB", { timeStyle: "short", timeZone: "UTC" });

/** In which zone an owner reads times, and what time it is there. */
function describeClock(owner: { time_zone: string | null } | undefined, nowMs: number): string {
  const aheadMs = aheadOfUtc(owner?.time_zone, nowMs);
  if (aheadMs === undefined) return "They have chosen no time zone, so mails to them have UTC.";
  return `Their time zone is ${owner?.time_zone}, where it is ${hours.format(nowMs + aheadMs)} now.`;
}

type NotesProps<Row> = {
  title: string;
  rows: Row[];
  whenEmpty: string;
  children: (row: Row) => ReactNode;
};

/** A short list of the narrow column. */
function Notes<Row>({ title, rows, whenEmpty, children }: NotesProps<Row>) {
  return (
    <>
      <h2>{title}</h2>
      {rows.length === 0 ? (
        <p className="quiet">{whenEmpty}</p>
      ) : (
        <ul className="notes">
          {rows.map((row, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the rows of a static page keep their places
            <li key={at}>{children(row)}</li>
          ))}
        </ul>
      )}
    </>
  );
}

function Subscriptions({ customers, subscriptions }: Pick<FactRows, "customers" | "subscriptions">) {
  const [customer] = customers;
  if (!customer) return null;
  return (
    <>
      <h2>Billing</h2>
      <p>
        Customer at Stripe: <AtStripe kind="customers" id={customer.customer_id} />
      </p>
      <Table
        rows={subscriptions}
        columns={{
          Subscription: ({ id }) => <AtStripe kind="subscriptions" id={id} />,
          State: (subscription) =>
            [...new Set([subscription.status.replace("_", " "), licenceStateOf(subscription)])].join(": "),
          "Period ends": ({ period_ends_ms }) => <Instant atMs={period_ends_ms} />,
          "Licence ends": ({ ends_at_ms }) => <Instant atMs={ends_at_ms} />,
          Price: ({ price_id }) => price_id ?? "–",
          "Last invoice": ({ invoice_id, invoice_status }) => (
            <>
              <AtStripe kind="invoices" id={invoice_id} /> {invoice_status}
            </>
          ),
          Due: (subscription) => describeDue(subscription, moneyInWords) ?? "–",
        }}
        whenEmpty="No subscription."
      />
    </>
  );
}

async function answerInJson(account: Account, plans: Plans, nowMs: number): Promise<string> {
  try {
    const contents = contentsOf(account, plans);
    const caller = contents
      ? ({ is: "account", account, contents, plans } as const)
      : ({ is: "unreadable" } as const);
    return JSON.stringify(await answerEntitlement(caller, nowMs), null, 2);
  } catch (denial) {
    if (!(denial instanceof ApiError)) throw denial;
    return `${denial.status}\n${JSON.stringify(denial, null, 2)}`;
  }
}
