import { StatusLights } from "@/app/(pages)/home/verdict";
import { type Account, parseAccount } from "@/lib/accounts/account";
import { accountIdOf } from "@/lib/accounts/accounts";
import { describeChanges } from "@/lib/accounts/audit-trail";
import { readEntitlement } from "@/lib/accounts/entitlement";
import { explain, factQueries, toFacts } from "@/lib/accounts/explanation";
import { auditEntries } from "@/lib/db/audit";
import { readTogether } from "@/lib/db/read-together";
import { ApiError } from "@/lib/http/errors";
import { hashEmail } from "@/lib/mail/suppressions";
import { Credits, giveCredits } from "@/lib/office/account-credits";
import { Delete, removeAccount } from "@/lib/office/account-deletion";
import { endSessions, Sessions } from "@/lib/office/account-sessions";
import { setTerms, Terms } from "@/lib/office/account-terms";
import { accountPath, addressOf, type OfficeCall, type OfficePage, requireEmail } from "@/lib/office/page";
import { homeStateOf, Instant, MailState, Outcome, Table, Their } from "@/lib/office/parts";

export const account: OfficePage = {
  path: accountPath,
  section: "/accounts",
  show,
  acts: [setTerms, giveCredits, endSessions, removeAccount],
};

const maxRows = 20;

/** One account, or what is known of an email without one. */
async function show(call: OfficeCall) {
  const { db, nowMs } = call;
  const email = requireEmail(call);
  const id = accountIdOf(db, email);
  const audit = auditEntries(db, {}).limit(maxRows);
  const found = await readTogether(db, {
    ...factQueries(db, email, nowMs),
    passkeys: db
      .selectFrom("passkeys")
      .select(["id", "name", "added_at_ms", "last_used_at_ms"])
      .where("account_id", "=", id)
      .orderBy("added_at_ms"),
    onboarding: db
      .selectFrom("onboarding_emails")
      .select(["id", "kind", "due_at_ms", "state", "failure"])
      .where("account_id", "=", id)
      .orderBy("due_at_ms"),
    entries: db
      .selectFrom("credit_entries")
      .select(["id", "thousandths", "reason", "created_at_ms"])
      .where("account_id", "=", id)
      .orderBy("created_at_ms", "desc")
      .orderBy("id", "desc")
      .limit(maxRows),
    // One query for each name that the audit may use, so that each is read by the index.
    auditByEmail: audit.where("whom", "=", email),
    auditByHash: audit.where("whom", "=", hashEmail(email)),
    auditById: audit.where("whom", "=", id),
  });
  const facts = toFacts(found, nowMs);
  const explained = explain(facts);
  const row = parseAccount(found.accounts[0]);
  const changes = [...found.auditByEmail, ...found.auditByHash, ...found.auditById]
    .sort((one, other) => other.at_ms - one.at_ms)
    .slice(0, maxRows);
  return {
    title: email,
    content: (
      <>
        <h1>
          <Their>{email}</Their>
        </h1>
        <Outcome call={call} done={doneWords} />
        <section className="card">
          {facts.hasAccount && <StatusLights state={homeStateOf(row, nowMs)} account={row} nowMs={nowMs} />}
          <p>{explained.signIn}</p>
          <p>{explained.apps}</p>
          {row && <WhatTheOwnerReads account={row} nowMs={nowMs} />}
        </section>
        {row && (
          <>
            <Answer account={row} nowMs={nowMs} />
            <Terms call={call} account={row} licence={facts.licence} />
            <Credits call={call} account={row} entries={found.entries} />
            <Sessions email={row.email} sessions={facts.sessions} nowMs={nowMs} />
          </>
        )}
        {found.passkeys.length > 0 && (
          <>
            <h2>Passkeys</h2>
            <Table
              columns={["Name", "Added", "Last used"]}
              rows={found.passkeys.map(({ id, name, added_at_ms, last_used_at_ms }) => ({
                key: id,
                cells: [
                  <Their key="name">{name}</Their>,
                  <Instant key="added" atMs={added_at_ms} nowMs={nowMs} />,
                  <Instant key="used" atMs={last_used_at_ms} nowMs={nowMs} />,
                ],
              }))}
              whenEmpty=""
            />
          </>
        )}
        <h2>Codes of the last day</h2>
        <Table
          columns={["Asked for", "Valid until", "Wrong tries"]}
          rows={facts.codes.map(({ created_at_ms, expires_at_ms, tries }, at) => ({
            key: String(at),
            cells: [
              <Instant key="at" atMs={created_at_ms} nowMs={nowMs} />,
              <Instant key="until" atMs={expires_at_ms} nowMs={nowMs} />,
              tries,
            ],
          }))}
          whenEmpty="No code was asked for."
        />
        <h2>Mails</h2>
        <Table
          columns={["Kind", "When", "State", "Provider’s words"]}
          rows={[
            ...facts.attempts.map(({ id, kind, at_ms, state, failure }) => ({
              key: id,
              cells: [
                kind,
                <Instant key="at" atMs={at_ms} nowMs={nowMs} />,
                <MailState key="state" state={state} />,
                <Their key="f">{failure}</Their>,
              ],
            })),
            ...found.onboarding.map(({ id, kind, due_at_ms, state, failure }) => ({
              key: id,
              cells: [
                `onboarding: ${kind}`,
                <Instant key="at" atMs={due_at_ms} nowMs={nowMs} />,
                <MailState key="state" state={state} />,
                <Their key="f">{failure}</Their>,
              ],
            })),
          ]}
          whenEmpty="No mails."
        />
        <h2>Invitation and waitlist</h2>
        <dl>
          <dt>Joined the waitlist</dt>
          <dd>
            <Instant atMs={facts.waiting?.joined_at_ms} nowMs={nowMs} />
          </dd>
          <dt>Open invitation until</dt>
          <dd>
            <Instant atMs={facts.invitation?.expires_at_ms} nowMs={nowMs} />
          </dd>
        </dl>
        <h2>Changes</h2>
        <Table
          columns={["When", "Who", "What", "Change"]}
          rows={changes.map(({ id, at_ms, who, what, before, after }) => ({
            key: id,
            cells: [
              <Instant key="at" atMs={at_ms} nowMs={nowMs} />,
              <Their key="who">{who}</Their>,
              what,
              <Their key="change">{describeChanges(parse(before), parse(after))}</Their>,
            ],
          }))}
          whenEmpty="None."
        />
        <p>
          <a href={addressOf({ path: "/audit" }, { whom: email })}>All changes of this person</a>
        </p>
        {found.accounts[0] && <Delete email={email} id={found.accounts[0].id} />}
      </>
    ),
  };
}

const doneWords = {
  terms: "Saved. The API answers by it from now on.",
  credits: "The balance is changed.",
  ended: "Ended. It no longer has access.",
  deleted: "The account is deleted.",
};

const parse = (json: string | null) => (json === null ? null : JSON.parse(json));

function WhatTheOwnerReads({ account, nowMs }: { account: Account; nowMs: number }) {
  const { heading, next } = homeStateOf(account, nowMs);
  return (
    <p className="quiet">
      The owner reads: “{heading}. {next}”
    </p>
  );
}

/** The answer of the API to an app of this account, right now. */
function Answer({ account, nowMs }: { account: Account; nowMs: number }) {
  return (
    <details className="fold">
      <summary>The answer of GET /api/entitlement</summary>
      <pre>
        <code>{answerInJson(account, nowMs)}</code>
      </pre>
    </details>
  );
}

function answerInJson(account: Account, nowMs: number): string {
  try {
    return JSON.stringify(readEntitlement({ is: "account", account }, nowMs), null, 2);
  } catch (denial) {
    if (!(denial instanceof ApiError)) throw denial;
    return `${denial.status}\n${JSON.stringify(denial, null, 2)}`;
  }
}
