import type { Account } from "@/lib/accounts/account";
import { namesOf } from "@/lib/accounts/audit-trail";
import { openHolds } from "@/lib/accounts/credits/holds";
import { selectLedger } from "@/lib/accounts/credits/ledger";
import { type Facts as AccountFacts, factQueries, toAccountFacts } from "@/lib/accounts/explanation";
import { answerEntitlement } from "@/lib/accounts/terms/entitlement";
import { addCreditsAct } from "@/lib/admin/credits";
import { endSessionAct } from "@/lib/admin/session";
import { selectAppAnswers, withEnds } from "@/lib/auth/sessions/app-answers";
import { answerDays } from "@/lib/config/lifetimes";
import { accountBy } from "@/lib/db/account-by";
import { auditEntries } from "@/lib/db/audit";
import { readInOneQuery } from "@/lib/db/read-in-one-query";
import { ApiError } from "@/lib/http/errors";
import { selectEmails } from "@/lib/mail/outbox/onboarding-outbox";
import { showBilling } from "@/lib/office/account/billing";
import { Credits } from "@/lib/office/account/credits";
import { Notes } from "@/lib/office/account/notes";
import { DangerZone, Export, personForms } from "@/lib/office/account/person";
import { Sessions } from "@/lib/office/account/sessions";
import { setTerms, Terms } from "@/lib/office/account/terms";
import { showVerdict } from "@/lib/office/account/verdict";
import { formOf } from "@/lib/office/act-form";
import { Change, Deed } from "@/lib/office/audit";
import { addressOf, type OfficeCall, type OfficePage, requireEmail } from "@/lib/office/page";
import { Ago, Instant, MailState, UntrustedText } from "@/lib/office/values";
import { contentsOf, type Plans, readPlans } from "@/lib/plans/plan";

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
  const found = await read(call, email);
  const facts = toAccountFacts(found, nowMs);
  const current = facts.account;
  const plans = await readPlans(db);
  const [row] = found.accounts;
  return (
    <>
      {
        await showVerdict({
          ...{ email, facts, plans, nowMs },
          deletesAtMs: row?.deletes_at_ms,
          timeZone: found.clock[0]?.time_zone,
        })
      }
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
            {await showBilling(found, nowMs)}
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
          <Known email={email} facts={facts} found={found} />
        </div>
      </div>
      {current && <ToldApps answer={await answerInJson(current, plans, nowMs)} />}
      <Export email={email} />
      <DangerZone email={email} account={row} call={call} />
    </>
  );
}

async function read({ db, nowMs }: OfficeCall, email: string) {
  const id = accountBy(db, "email", email).select("id").$asScalar();
  return readInOneQuery(db, {
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
}

type KnownProps = { email: string; facts: AccountFacts; found: Awaited<ReturnType<typeof read>> };

/** What is known of the person, which changes nothing. */
function Known({ email, facts, found }: KnownProps) {
  const onboarding = found.onboarding.map(({ kind, ...mail }) => ({
    ...mail,
    kind: kind.replaceAll("-", " "),
  }));
  return (
    <>
      {(!facts.hasAccount || facts.waiting || facts.invitation) && <Joining {...facts} />}
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
      <Notes title="Mails" rows={[...facts.attempts, ...onboarding]} whenEmpty="No mails.">
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
    </>
  );
}

function Joining({ waiting, invitation }: Pick<AccountFacts, "waiting" | "invitation">) {
  return (
    <>
      <h2>Invitation and waitlist</h2>
      <dl>
        <dt>Joined the waitlist</dt>
        <dd>{waiting ? <Instant atMs={waiting.joined_at_ms} /> : "no"}</dd>
        <dt>Open invitation until</dt>
        <dd>{invitation ? <Instant atMs={invitation.expires_at_ms} /> : "none"}</dd>
      </dl>
    </>
  );
}

/** The API's own words, for who builds an app. */
function ToldApps({ answer }: { answer: string }) {
  return (
    <details className="fold">
      <summary>What apps are told: the answer of GET /api/entitlement</summary>
      <pre>
        <code>{answer}</code>
      </pre>
    </details>
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
