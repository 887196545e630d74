import { Description } from "@/app/(pages)/home/sessions";
import { statusNames } from "@/app/(pages)/home/verdict";
import { type Account, isInstant, parseAccount, plans } from "@/lib/accounts/account";
import {
  type AccountTerms,
  addCredits,
  deleteAccount,
  findAccount,
  setAccount,
} from "@/lib/accounts/accounts";
import { describeChanges } from "@/lib/accounts/audit-trail";
import { parseEmailAddress } from "@/lib/accounts/email-address";
import { readEntitlement } from "@/lib/accounts/entitlement";
import { accountIdOf, explain, factQueries, toFacts } from "@/lib/accounts/explanation";
import { parseThousandths, toCredits } from "@/lib/accounts/ledger";
import { endSessionsOf, type Session } from "@/lib/auth/session";
import { deleteCustomer } from "@/lib/billing/customer";
import { auditEntries } from "@/lib/db/audit";
import { readTogether } from "@/lib/db/read-together";
import { ApiError } from "@/lib/http/errors";
import { hashEmail } from "@/lib/mail/suppressions";
import {
  accountPath,
  addressOf,
  fieldValue,
  type OfficeAct,
  type OfficeCall,
  type OfficePage,
} from "@/lib/office/page";
import { homeStateOf, Instant, Outcome, Table, Their } from "@/lib/office/parts";

export const account: OfficePage = { path: accountPath, show };

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
          {facts.hasAccount && (
            <p>
              <span className="tag">{statusNames[homeStateOf(row, nowMs).status]}</span>
            </p>
          )}
          <p>{explained.signIn}</p>
          <p>{explained.apps}</p>
          {row && <WhatTheOwnerReads account={row} nowMs={nowMs} />}
        </section>
        {row && (
          <>
            <Answer account={row} nowMs={nowMs} />
            <Terms call={call} account={row} />
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
          columns={["Kind", "When", "State", "The provider’s words"]}
          rows={[
            ...facts.attempts.map(({ id, kind, at_ms, state, failure }) => ({
              key: id,
              cells: [
                kind,
                <Instant key="at" atMs={at_ms} nowMs={nowMs} />,
                state,
                <Their key="f">{failure}</Their>,
              ],
            })),
            ...found.onboarding.map(({ id, kind, due_at_ms, state, failure }) => ({
              key: id,
              cells: [
                `onboarding: ${kind}`,
                <Instant key="at" atMs={due_at_ms} nowMs={nowMs} />,
                state,
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
        {facts.hasAccount && <Delete email={email} />}
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
      <summary>What GET /api/entitlement answers</summary>
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

function Terms({ call, account }: { call: OfficeCall; account: Account }) {
  const endsAtMs = "trialEndsAtMs" in account ? account.trialEndsAtMs : undefined;
  return (
    <>
      <h2>Plan</h2>
      <form method="post" action={setTerms.path} className="filter">
        <input type="hidden" name="email" value={account.email} />
        <input type="hidden" name="seen" value={describeTerms(account)} />
        <label>
          Plan
          <select name="plan" defaultValue={fieldValue(call, "plan", account.plan)}>
            {plans.map((plan) => (
              <option key={plan}>{plan}</option>
            ))}
          </select>
        </label>
        <label>
          Trial ends (UTC)
          <input
            type="datetime-local"
            name="trialEnds"
            defaultValue={fieldValue(call, "trialEnds", toMinute(endsAtMs))}
          />
        </label>
        <label>
          Assistants at most
          <input
            name="assistantLimit"
            inputMode="numeric"
            autoComplete="off"
            defaultValue={fieldValue(call, "assistantLimit", String(account.assistantLimit ?? ""))}
          />
        </label>
        <button type="submit">Save</button>
      </form>
    </>
  );
}

const toMinute = (atMs: number | undefined) =>
  atMs === undefined ? "" : new Date(atMs).toISOString().slice(0, 16);

/** The terms that a form was made from. */
function describeTerms(account: Account): string {
  const endsAtMs = "trialEndsAtMs" in account ? account.trialEndsAtMs : "";
  return [account.plan, endsAtMs, account.assistantLimit ?? "none"].join(" ");
}

type Entry = { id: string; thousandths: number; reason: string; created_at_ms: number };

function Credits({ call, account, entries }: { call: OfficeCall; account: Account; entries: Entry[] }) {
  return (
    <>
      <h2>Credits: {toCredits(account.creditThousandths).toLocaleString("en")}</h2>
      <form method="post" action={giveCredits.path} className="filter">
        <input type="hidden" name="email" value={account.email} />
        <label>
          Amount to add, or to take with a minus
          <input
            name="amount"
            inputMode="decimal"
            autoComplete="off"
            defaultValue={fieldValue(call, "amount")}
          />
        </label>
        <label>
          Reason, which the owner reads
          <input name="reason" autoComplete="off" maxLength={500} defaultValue={fieldValue(call, "reason")} />
        </label>
        <button type="submit">Change the balance</button>
      </form>
      <Table
        columns={["When", "Credits", "Reason"]}
        rows={entries.map(({ id, thousandths, reason, created_at_ms }) => ({
          key: id,
          cells: [
            <Instant key="at" atMs={created_at_ms} nowMs={call.nowMs} />,
            toCredits(thousandths).toLocaleString("en", { signDisplay: "exceptZero" }),
            <Their key="reason">{reason}</Their>,
          ],
        }))}
        whenEmpty="No entries."
      />
    </>
  );
}

function Sessions({ email, sessions, nowMs }: { email: string; sessions: Session[]; nowMs: number }) {
  return (
    <>
      <h2>Sessions and apps</h2>
      {sessions.length === 0 && <p className="quiet">None.</p>}
      <ul className="sessions">
        {sessions.slice(0, 50).map((session) => (
          <li key={session.id}>
            <div>
              <Description session={session} isOwn={false} nowMs={nowMs} />
            </div>
            <EndForm email={email} session={session.id} label={`End “${session.name}”`}>
              End
            </EndForm>
          </li>
        ))}
      </ul>
      {sessions.length > 1 && (
        <EndForm email={email} session="all" label={`End all ${sessions.length} sessions`}>
          {`End all ${sessions.length}`}
        </EndForm>
      )}
    </>
  );
}

function EndForm({
  email,
  session,
  label,
  children,
}: {
  email: string;
  session: string;
  label: string;
  children: string;
}) {
  return (
    <form method="post" action={endSessions.path}>
      <input type="hidden" name="email" value={email} />
      <input type="hidden" name="session" value={session} />
      <button type="submit" className="plain" aria-label={label}>
        {children}
      </button>
    </form>
  );
}

function Delete({ email }: { email: string }) {
  return (
    <details className="fold">
      <summary>Delete this account</summary>
      <form method="post" action={removeAccount.path} className="stack">
        <p>
          The account goes with its history, sessions, apps and passkeys, and its subscription at Stripe ends.
          To erase everything about the person, use <code>person erase</code> in the shell.
        </p>
        <input type="hidden" name="email" value={email} />
        <button type="submit">
          Delete <Their>{email}</Their>
        </button>
      </form>
    </details>
  );
}

/** The plan, the trial's end and the limit. An empty limit stays as it is. */
export const setTerms: OfficeAct = {
  path: "/account/terms",
  page: account,
  needsProof: true,
  async run(call) {
    const { db, nowMs, by, input } = call;
    const email = requireEmail(call);
    const terms = readTerms(call);
    await setAccount(db, email, terms, nowMs, by, (current) => {
      if (input("seen") === describeTerms(current)) return;
      throw new ApiError("forbidden", {
        status: 409,
        message: `Someone changed this account meanwhile. It is now: ${describeTerms(current)}.`,
        hint: "Your values are still in the form. Save again if they should replace these.",
      });
    });
    return addressOf(account, { email, done: "terms" });
  },
};

/** Reads the terms of a form. Throws an {@link ApiError} for what no account can have. */
export function readTerms({ input }: Pick<OfficeCall, "input">): AccountTerms {
  const plan = plans.find((name) => name === input("plan"));
  if (!plan) throw invalid("Choose a plan.");
  const terms: AccountTerms = { plan };
  const [ends, days, limit] = [input("trialEnds"), input("trialDays"), input("assistantLimit")];
  if (ends && plan === "trial") {
    terms.trialEndsAtMs = Date.parse(`${ends}Z`);
    if (!isInstant(terms.trialEndsAtMs)) throw invalid("The trial’s end is not a time from 1970 to 9999.");
  }
  if (days && plan === "trial") terms.trialDays = parseWhole(days, "The days of the trial");
  if (limit) terms.assistantLimit = parseWhole(limit, "The limit of assistants");
  return terms;
}

function parseWhole(text: string, what: string): number {
  if (!/^\d{1,6}$/.test(text)) throw invalid(`${what} must be a whole number from 0 to 999999.`);
  return Number(text);
}

export const giveCredits: OfficeAct = {
  path: "/account/credits",
  page: account,
  needsProof: true,
  async run(call) {
    const { db, nowMs, by, input } = call;
    const email = requireEmail(call);
    const thousandths = parseThousandths(input("amount") ?? "");
    if (!thousandths) throw invalid("The amount must be a number other than 0, with at most three decimals.");
    const reason = input("reason") ?? "";
    if (reason === "" || reason.length > 500 || /\p{Cc}/u.test(reason)) {
      throw invalid("The reason must be one line of 1 to 500 characters.");
    }
    await addCredits(db, email, { thousandths, reason }, nowMs, by);
    return addressOf(account, { email, done: "credits" });
  },
};

export const endSessions: OfficeAct = {
  path: "/account/sessions/end",
  page: account,
  needsProof: true,
  async run(call) {
    const { db, nowMs, by, input } = call;
    const email = requireEmail(call);
    const { id } = await findAccount(db, email);
    const session = input("session") ?? "";
    const which = session === "all" ? "all" : { id: session };
    await endSessionsOf(db, { by, what: "session end" }, id, which, nowMs);
    return addressOf(account, { email, done: "ended" });
  },
};

export const removeAccount: OfficeAct = {
  path: "/account/delete",
  page: account,
  needsProof: true,
  async run(call) {
    const { db, nowMs, by } = call;
    const email = requireEmail(call);
    await deleteCustomer(db, "email", email);
    await deleteAccount(db, email, nowMs, by);
    return addressOf(account, { email, done: "deleted" });
  },
};

function requireEmail({ input }: Pick<OfficeCall, "input">): string {
  const email = parseEmailAddress(input("email") ?? "");
  if (email) return email;
  throw invalid("This is not an email address.");
}

export function invalid(message: string): ApiError {
  return new ApiError("invalid_request", { message, hint: "Nothing was changed." });
}
