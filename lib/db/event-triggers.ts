import { type Kysely, PostgresAdapter, sql } from "kysely";
import { isAnonymous } from "@/lib/db/pseudonym";

/*
 * Events are written by triggers of the store, so that each is a consequence of the write that it tells, in the same
 * transaction: by whatever code, also that of a build which knows no events, and by hand. No code can forget one.
 */

/**
 * A trigger, in SQL that both engines accept. `json_object` is `json_build_object` on PostgreSQL, and `as_json` reads a
 * column's text.
 */
type EventTrigger = {
  /** The writes: `insert on accounts`. */
  after: string;
  /** Which of the written rows make an event. It reads no table. */
  when?: string;
  /** What else must hold, which may read tables. */
  where?: string;
  type: string;
  account: string;
  /** The table with the accounts, if the row tells of many. */
  from?: string;
  data?: string;
};

const hasAccount = (row: "new" | "old") => `exists (select 1 from accounts where id = ${row}.account_id)`;
const since = "(select since_ms from event_numbers where id = 1)";

const statusOf = (row: "new" | "old") =>
  `case when ${row}.plan = 'trial' and ${row}.trial_end_told_ms = ${row}.trial_ends_at_ms then 'trial-ended' else ${row}.plan end`;
const planOf = (row: "new" | "old") =>
  `case when ${row}.plan = 'licensed' then coalesce(${row}.paid_plan, ${row}.given_plan, 'licensed') else ${row}.plan end`;
const limitOf = (row: "new" | "old") =>
  `coalesce(${row}.assistant_limit, (select cast(as_json(limits)->>'assistants' as bigint) from plans where name = ${planOf(row)}))`;
const entitlementOf = (row: "new" | "old") =>
  `json_object('status', ${statusOf(row)}, 'trialEndsAtMs', ${row}.trial_ends_at_ms, 'assistantLimit', ${limitOf(row)}, 'plan', ${planOf(row)}, 'ownFeatures', ${row}.own_features, 'ownLimits', ${row}.own_limits, 'givenEndsAtMs', ${row}.given_ends_at_ms)`;
const contentsOf = (row: "new" | "old") =>
  `json_object('plan', ${row}.name, 'features', ${row}.features, 'limits', ${row}.limits)`;
const creditsOf = (row: "new" | "old") =>
  `json_object('balanceThousandths', ${row}.credit_thousandths - ${row}.held_thousandths, 'heldThousandths', ${row}.held_thousandths)`;
const changed = (...expressions: ((row: "new" | "old") => string)[]) =>
  expressions.map((of) => `${of("old")} is distinct from ${of("new")}`).join(" or ");
const column = (name: string) => (row: "new" | "old") => `${row}.${name}`;

const isPastDue = "new.status = 'past_due' and new.licence_until_ms > 0";
const failedLicence = {
  type: "payment.failed",
  account: "new.account_id",
  data: "json_object('kind', 'licence', 'subscription', new.id)",
};
const connected = { type: "app.connected", account: "new.account_id", data: "json_object('app', new.id)" };
const ended = { type: "app.ended", account: "old.account_id" };
const endedByTime = (row: "new" | "old") =>
  `json_object('app', ${row}.id, 'reason', case when ${row}.expires_at_ms = coalesce(${row}.last_date_ms, ${row}.expires_at_ms) then 'last date' else 'idle' end)`;

const grants = ["given_ends_at_ms", "given_plan", "paid_plan", "own_features", "own_limits"];

/** The triggers of the first migration, by name. Later ones are new migrations, because released ones never change. */
export const eventTriggers: Record<string, EventTrigger> = {
  account_created: {
    after: "insert on accounts",
    when: `not (${isAnonymous("new")})`,
    type: "account.created",
    account: "new.id",
  },
  account_deleted: {
    after: "delete on accounts",
    when: `not (${isAnonymous("old")})`,
    type: "account.deleted",
    account: "old.id",
  },
  email_changed: {
    after: "update of email on accounts",
    when: "old.email <> new.email",
    type: "email.changed",
    account: "new.id",
  },
  entitlement_changed: {
    after: `update of plan, trial_ends_at_ms, assistant_limit, trial_end_told_ms, ${grants.join(", ")} on accounts`,
    when: changed(statusOf, ...["trial_ends_at_ms", "assistant_limit", ...grants].map(column)),
    where: `old.trial_end_told_ms is not distinct from new.trial_end_told_ms or new.trial_ends_at_ms > ${since}`,
    type: "entitlement.changed",
    account: "new.id",
    data: `json_object('before', ${entitlementOf("old")}, 'after', ${entitlementOf("new")})`,
  },
  plan_changed: {
    after: "update of features, limits on plans",
    when: changed(column("features"), column("limits")),
    type: "entitlement.changed",
    account: "accounts.id",
    from: "accounts",
    where: `not (${isAnonymous("accounts")}) and case accounts.plan
      when 'licensed' then new.name in (coalesce(accounts.given_plan, accounts.paid_plan, 'licensed'), accounts.paid_plan)
      when 'trial' then new.name = 'trial' and accounts.trial_end_told_ms is distinct from accounts.trial_ends_at_ms
      else new.name = accounts.plan end`,
    data: `json_object('before', ${contentsOf("old")}, 'after', ${contentsOf("new")})`,
  },
  credits_changed: {
    after: "update of credit_thousandths, held_thousandths on accounts",
    when: changed(column("credit_thousandths"), column("held_thousandths")),
    type: "credits.changed",
    account: "new.id",
    data: `json_object('before', ${creditsOf("old")}, 'after', ${creditsOf("new")})`,
  },
  credits_low: {
    after: "update of low_since_ms on credit_limits",
    // A crossing, and no wish of the owner for another threshold.
    when: "old.low_since_ms is null and new.low_since_ms is not null and old.mail_below_thousandths = new.mail_below_thousandths",
    type: "credits.low",
    account: "new.account_id",
    data: "json_object('belowThousandths', new.mail_below_thousandths)",
  },
  hold_expired: {
    after: "update of closed_as on holds",
    when: "old.closed_as is null and new.closed_as = 'expired'",
    type: "hold.expired",
    account: "new.account_id",
    data: "json_object('hold', new.id, 'thousandths', new.thousandths)",
  },
  app_connected: { after: "insert on local_sessions", when: "new.kind = 'app'", ...connected },
  approved_app_connected: {
    after: "update of kind on local_sessions",
    when: "new.kind = 'app' and old.kind is distinct from 'app'",
    ...connected,
  },
  app_ended: {
    after: "update of ended_as on local_sessions",
    when: "old.kind = 'app' and old.ended_as is null and new.ended_as is not null and new.end_told_ms is null",
    ...ended,
    data: "json_object('app', new.id, 'reason', new.ended_as)",
  },
  app_ended_by_time: {
    after: "update of end_told_ms on local_sessions",
    when: "old.kind = 'app' and old.end_told_ms is null and new.end_told_ms is not null and new.ended_as is null",
    where: `new.expires_at_ms > ${since}`,
    ...ended,
    data: endedByTime("new"),
  },
  app_deleted: {
    after: "delete on local_sessions",
    when: "old.kind = 'app' and old.ended_as is null and old.end_told_ms is null",
    // Apps that are deleted with their account have no event of their own.
    where: `old.expires_at_ms > ${since} and ${hasAccount("old")}`,
    ...ended,
    data: endedByTime("old"),
  },
  purchase_completed: {
    after: "update of state on billing_checkouts",
    when: "old.state <> 'fulfilled' and new.state = 'fulfilled'",
    type: "purchase.completed",
    account: "new.account_id",
    data: "json_object('kind', new.kind, 'purchase', new.id, 'price', new.price_id, 'thousandths', new.thousandths)",
  },
  checkout_failed: {
    after: "update of state on billing_checkouts",
    when: "old.state <> 'failed' and new.state = 'failed'",
    type: "payment.failed",
    account: "new.account_id",
    data: "json_object('kind', new.kind, 'purchase', new.id)",
  },
  licence_failed: { after: "insert on billing_subscriptions", when: isPastDue, ...failedLicence },
  licence_failing: {
    after: "update of status, unpaid_since_ms on billing_subscriptions",
    when: `${isPastDue} and (${changed(column("status"), column("unpaid_since_ms"))})`,
    ...failedLicence,
  },
};

/** The trigger that has {@link tellChangedPlans} tell the accounts of a plan that it was changed, in place of `plan_changed`. */
const planTrigger = {
  after: "update of features, limits on plans",
  when: changed(column("features"), column("limits")),
  insert: `insert into changed_plans (seq, plan, data)
      select coalesce(max(seq), 0) + 1, new.name, cast(json_object('before', ${contentsOf("old")}, 'after', ${contentsOf("new")}) as text)
      from changed_plans;`,
};

/** Whether a database is PostgreSQL; otherwise it is SQLite. */
export const isPostgres = (db: Pick<Kysely<unknown>, "getExecutor">) =>
  db.getExecutor().adapter instanceof PostgresAdapter;

/** A new event's id and its time by the store's clock, in SQL. */
export const newEvent = (db: Pick<Kysely<unknown>, "getExecutor">) =>
  isPostgres(db)
    ? {
        id: "'evt_' || replace(gen_random_uuid()::text, '-', '')",
        atMs: "cast(extract(epoch from clock_timestamp()) * 1000 as bigint)",
      }
    : {
        id: "'evt_' || lower(hex(randomblob(16)))",
        atMs: "cast(unixepoch('subsec') * 1000 as integer)",
      };

/** Creates the triggers of events, those of the same name anew. */
export async function createTriggers(
  db: Kysely<unknown>,
  triggers: Record<string, EventTrigger>,
): Promise<void> {
  const { id, atMs } = newEvent(db);
  for (const [
    name,
    { after, when = "true", where = "true", type, account, from, data = "json_object()" },
  ] of Object.entries(triggers)) {
    const insert = `insert into events (id, account_id, type, data, at_ms)
      select ${id}, ${account}, '${type}', cast(${data} as text), ${atMs}
      ${from ? `from ${from} ` : ""}where ${where};`;
    await createTrigger(db, name, { after, when, insert });
  }
}

/** Has a plan's change told in steps. */
export const createPlanTrigger = (db: Kysely<unknown>) => createTrigger(db, "plan_changed", planTrigger);

const readJson = /as_json\(([\w.]+)\)/g;

async function createTrigger(
  db: Kysely<unknown>,
  name: string,
  { after, when, insert }: { after: string; when: string; insert: string },
): Promise<void> {
  const statements = isPostgres(db)
    ? [
        `create or replace function tell_${name}() returns trigger language plpgsql as $$ begin
            ${insert.replaceAll("json_object(", "json_build_object(").replaceAll(readJson, "($1)::json")} return null; end $$`,
        `drop trigger if exists tell_${name} on ${after.split(" ").at(-1)}`,
        `create trigger tell_${name} after ${after} for each row when (${when}) execute function tell_${name}()`,
      ]
    : [
        `drop trigger if exists tell_${name}`,
        `create trigger tell_${name} after ${after} for each row when ${when} begin
            ${insert.replaceAll(readJson, "json($1)")} end`,
      ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
