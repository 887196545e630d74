import { isDeepStrictEqual } from "node:util";
import type { Selectable } from "kysely";
import type { Tables } from "@/lib/db/tables";
import type { OpenStore } from "@/tests/support/stores";

/*
 * Two owners who have a row of almost everything in each store of a test, from before its first owner, and two operators, to
 * whom nothing is due: what lacks a condition of whom it is for finds, shows or changes what is theirs. Nothing that any test
 * does may. One has the first of all ids, the other the last.
 */

const earlyMs = Date.UTC(2020, 0);
/** Later than any test's clock: what is of then is not due, and not over. */
const lateMs = Date.UTC(2100, 0);

/** In each table with rows of theirs, the column that says so; first the tables to which others lead. */
export const standingBy = {
  accounts: "id",
  operators: "id",
  app_answers: "account_id",
  audit_entries: "whom",
  backend_writes: "account_id",
  billing_checkouts: "account_id",
  billing_customers: "account_id",
  billing_payments: "account_id",
  billing_subscriptions: "account_id",
  clerk_users: "email",
  connect_state: "grant_id",
  credit_entries: "account_id",
  credit_limits: "account_id",
  credit_months: "account_id",
  email_changes: "account_id",
  events: "account_id",
  holds: "account_id",
  invitations: "email",
  local_sessions: "account_id",
  onboarding_emails: "account_id",
  operator_passkeys: "operator_id",
  operator_sessions: "operator_id",
  passkey_offers: "account_id",
  passkeys: "account_id",
  sign_in_codes: "email",
  sign_in_emails: "email",
  sign_in_mail_attempts: "email",
  waitlist: "email",
} as const satisfies { [Table in keyof Tables]?: keyof Tables[Table] };

/** Which of a table's rows are theirs, and which are not, in SQL. */
const isTheirs = (column: string) => `${column} LIKE '%standing-by%'`;
const isOthers = (column: string) => `${column} IS NULL OR NOT ${isTheirs(column)}`;

/** A test's own statement about one table, which does not see them unless it names them. */
export function forOthers(sql: string): string {
  const [, begin = "", table = "", middle = "", condition = "1 = 1", end = ""] =
    /^(\s*(?:UPDATE|DELETE FROM|SELECT (?:(?!SELECT).)+? FROM) )(\w+)(.*?)(?:WHERE (.+?))?( (?:RETURNING|ORDER BY|GROUP BY|LIMIT) [^)]*)?$/s.exec(
      sql,
    ) ?? [];
  const column = new Map<string, string>(Object.entries(standingBy)).get(table);
  if (!column || /\bJOIN\b|^,/.test(middle) || sql.includes("standing-by")) return sql;
  return `${begin}${table}${middle} WHERE (${isOthers(column)}) AND (${condition})${end}`;
}

/** Their rows, by table. */
export type StandingBy = { [table: string]: { [column: string]: unknown }[] };

/** Adds them to a store that has none of them. */
export async function addStandingBy(query: OpenStore["query"], all: StandingBy): Promise<void> {
  for (const [table, rows] of Object.entries(all))
    for (const row of rows) {
      const values = Object.values(row).map((value) => (value === null ? "NULL" : `'${value}'`));
      await query(`INSERT INTO ${table} (${Object.keys(row)}) VALUES (${values})`);
    }
  await query("DELETE FROM events WHERE account_id LIKE '%standing-by%'");
}

/** Takes them out of a store: for a test that looks at everyone. */
export async function removeStandingBy(query: OpenStore["query"]): Promise<void> {
  for (const [table, column] of Object.entries(standingBy))
    await query(`DELETE FROM ${table} WHERE ${isTheirs(column)}`);
}

/** Makes their rows, in the order in which they can be added. */
export function makeStandingBy(nowMs: number): StandingBy {
  const all: StandingBy = {};
  for (const [name, atMs] of [
    ["0", earlyMs],
    ["z", earlyMs + 1],
  ] as const)
    makeOne(all, name, atMs, nowMs);
  return all;
}

type Row<Table extends keyof Tables> = Selectable<Tables[Table]>;

function makeOne(all: StandingBy, name: string, atMs: number, nowMs: number): void {
  const id = `acc_${name}-standing-by`;
  const email = `${name}-standing-by@example.org`;
  const nameOf = (thing: string) => `${thing}-${name}-standing-by`;
  const account = { account_id: id };
  const add = <Table extends keyof typeof standingBy>(table: Table, rows: Partial<Row<Table>>[]) => {
    all[table] = [...(all[table] ?? []), ...rows];
  };
  add("accounts", [
    {
      id,
      email,
      subject: nameOf("subject"),
      plan: "hobby",
      assistant_limit: 77,
      credit_thousandths: 77_000,
      held_thousandths: 7000,
      created_at_ms: atMs,
      credits_due_ms: null,
      reference: nameOf("reference"),
      time_zone: "Pacific/Chatham",
      app_end_mails_stopped_at_ms: atMs,
      trial_mail_done_ms: atMs,
      own_limits: '{"standing-by":7}',
    },
  ]);
  add("credit_months", [
    {
      ...account,
      anchor_ms: atMs,
      starts_ms: lateMs,
      plan: "hobby",
      thousandths: 0,
      is_paid: 0,
      is_unpaid: 0,
    },
  ]);
  add("credit_entries", [
    {
      ...account,
      id: nameOf("entry"),
      thousandths: 77_000,
      reason: "standing by",
      created_at_ms: atMs,
      checkout: nameOf("cs"),
      price_id: "price_pack",
      amount: 7700,
      currency: "eur",
      backend_id: "standing-by",
      number: name === "0" ? -2 : -1,
    },
  ]);
  add("holds", [
    {
      ...account,
      id: nameOf("hold"),
      backend_id: "standing-by",
      thousandths: 7000,
      reason: "standing by",
      created_at_ms: atMs,
      expires_at_ms: lateMs,
    },
  ]);
  add("credit_limits", [
    {
      ...account,
      monthly_thousandths: 77_000,
      month_ms: lateMs,
      spent_thousandths: 7000,
      mail_below_thousandths: 1000,
      top_up_price: "price_standing_by",
      top_up_below_thousandths: 1000,
      top_up_most: 1,
    },
  ]);
  add("backend_writes", [
    {
      ...account,
      backend_id: "standing-by",
      key_hash: nameOf("key"),
      body_digest: "",
      answer: "{}",
      written_at_ms: atMs,
    },
  ]);
  add("onboarding_emails", [
    {
      ...account,
      id: nameOf("onboarding"),
      recipient_hash: nameOf("recipient"),
      kind: "welcome",
      due_at_ms: lateMs,
      state: "scheduled",
      next_attempt_at_ms: lateMs,
    },
  ]);
  add("waitlist", [
    {
      email: `waiting-${email}`,
      joined_at_ms: lateMs,
      confirmation_hash: nameOf("confirmation"),
      confirmation_mailed_at_ms: atMs,
      invited_at_ms: lateMs,
      mailbox_hash: nameOf("mailbox"),
    },
  ]);
  add("invitations", [
    {
      id: nameOf("invitation"),
      email: `invited-${email}`,
      token_hash: nameOf("token"),
      plan: "hobby",
      created_at_ms: lateMs,
      expires_at_ms: lateMs,
    },
  ]);
  add("sign_in_codes", [
    {
      browser_hash: nameOf("browser"),
      email,
      code_hash: nameOf("code"),
      tries: 0,
      created_at_ms: lateMs,
      expires_at_ms: lateMs,
      share: "known",
    },
  ]);
  add("sign_in_emails", [{ email, long_code_hash: nameOf("long"), long_code_until_ms: lateMs }]);
  add("sign_in_mail_attempts", [
    { id: nameOf("mail"), email, kind: "farewell", at_ms: lateMs, state: "sent" },
  ]);
  add("app_answers", [{ ...account, session_id: nameOf("app"), told: "hobby", at_ms: lateMs }]);
  const session = { ...account, expires_at_ms: lateMs, begun_at_ms: atMs, last_seen_at_ms: atMs };
  const browser = {
    ...session,
    last_date_ms: lateMs,
    kind: "browser",
    name: "standing by",
    network: "192.0.2.0/24",
    renewed_from: "192.0.2.0/24",
    clerk_session: nameOf("clerk"),
    confirmed_at_ms: atMs,
    confirmed_by: "code",
  };
  add("local_sessions", [
    {
      ...browser,
      id: nameOf("session"),
      client_hash: nameOf("client"),
      begun_by: "owner",
      former_hash: nameOf("former"),
      former_until_ms: lateMs,
    },
    { ...session, id: nameOf("program"), kind: "program", name: "standing by", made_in: nameOf("session") },
    {
      ...browser,
      id: nameOf("app"),
      kind: "app",
      app_origin: "standing-by",
      told: "hobby",
      checked_at_ms: atMs,
      end_mail_at_ms: lateMs,
    },
    { ...browser, id: nameOf("approved"), kind: "approved", app_origin: "standing-by" },
  ]);
  const payload = JSON.stringify({ accountId: nameOf("subject"), clientId: "standing-by" });
  add(
    "connect_state",
    ["Grant", "RefreshToken", "AccessToken", "AuthorizationCode"].map((kind) => ({
      kind,
      id_hash: nameOf("state"),
      payload,
      grant_id: nameOf("app"),
      look_up_hash: kind === "Grant" ? nameOf("app") : null,
      consumed_at_ms: name === "z" ? atMs : null,
      expires_at_ms: lateMs,
    })),
  );
  add("passkeys", [
    {
      ...account,
      id: nameOf("passkey"),
      credential_id: nameOf("credential"),
      rp_id: "localhost",
      public_key: "",
      counter: 0,
      name: "standing by",
      added_at_ms: atMs,
    },
  ]);
  add("passkey_offers", [{ ...account, declined_at_ms: atMs }]);
  add("clerk_users", [{ id: nameOf("user"), email, updated_at_ms: atMs }]);
  add("audit_entries", [
    { id: nameOf("audit"), at_ms: nowMs, who: "owner", what: "account set", whom: email },
  ]);
  add("email_changes", [
    {
      ...account,
      id: nameOf("change"),
      from_email: email,
      to_email: `moved-${email}`,
      mailbox_hash: nameOf("moved"),
      asked_at_ms: lateMs,
      from_confirmed_at_ms: atMs,
      until_ms: lateMs,
    },
  ]);
  add("billing_customers", [{ ...account, customer_id: nameOf("cus"), created_at_ms: atMs }]);
  add("billing_subscriptions", [
    {
      ...account,
      id: nameOf("sub"),
      status: "active",
      price_id: "price_standing_by",
      period_ends_ms: lateMs,
      period_starts_ms: atMs,
      cycle_anchor_ms: atMs,
      licence_until_ms: lateMs,
      created_at_ms: atMs,
      version: 1,
      last_event: "standing-by",
      last_event_at_ms: lateMs,
    },
  ]);
  const checkout = { ...account, created_at_ms: atMs, last_event_at_ms: lateMs };
  add("billing_checkouts", [
    {
      ...checkout,
      id: nameOf("licence"),
      kind: "licence",
      price_id: "price_month",
      thousandths: 0,
      state: "open",
    },
    {
      ...checkout,
      id: nameOf("open"),
      kind: "credits",
      price_id: "price_pack",
      thousandths: 7,
      state: "open",
    },
    {
      ...checkout,
      id: nameOf("credits"),
      kind: "credits",
      price_id: "price_pack",
      thousandths: 77_000,
      state: "fulfilled",
      session_id: nameOf("cs"),
    },
  ]);
  add("billing_payments", [
    {
      ...account,
      id: nameOf("charge"),
      bought: nameOf("cs"),
      amount: 7700,
      returned: 0,
      currency: "eur",
      paid_at_ms: atMs,
    },
  ]);
  const operator = { operator_id: nameOf("operator") };
  add("operators", [
    {
      id: operator.operator_id,
      name: nameOf("operator"),
      added_at_ms: atMs,
      link_hash: nameOf("link"),
      link_until_ms: lateMs,
    },
  ]);
  add("operator_passkeys", [
    {
      ...operator,
      credential_id: nameOf("credential"),
      rp_id: "localhost",
      public_key: "",
      counter: 0,
      added_at_ms: atMs,
    },
  ]);
  add("operator_sessions", [
    {
      ...operator,
      id_hash: nameOf("session"),
      begun_at_ms: atMs,
      last_used_at_ms: lateMs,
      expires_at_ms: lateMs,
      proved_at_ms: atMs,
    },
  ]);
}

/** All that a store has of them. */
export async function readStandingBy(query: OpenStore["query"]): Promise<StandingBy> {
  const all: StandingBy = {};
  for (const [table, column] of Object.entries(standingBy))
    all[table] = await query(`SELECT * FROM ${table} WHERE ${isTheirs(column)}`);
  return all;
}

/** Rows as texts that both engines have alike: PostgreSQL has numbers as texts, and columns in another order. */
const asLines = (rows: StandingBy[string] = []) =>
  rows
    .map((row) =>
      Object.entries(row)
        .map(([name, value]) => `${name}: ${value}`)
        .sort()
        .join("\n"),
    )
    .sort();

/** Throws if those who stood by have anything else than before. */
export async function requireUntouched(query: OpenStore["query"], before: StandingBy): Promise<void> {
  const all = await readStandingBy(query);
  for (const [table, rows] of Object.entries(all)) {
    const [was, is] = [asLines(before[table]), asLines(rows)];
    if (isDeepStrictEqual(is, was)) continue;
    const differing = (some: string[], others: string[]) =>
      some.filter((row) => !others.includes(row)).join("\n\n");
    throw new Error(
      `A test changed those who only stood by: in ${table}\n${differing(was, is)}\n\nbecame\n${differing(is, was)}`,
    );
  }
}
