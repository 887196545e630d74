import { createHash } from "node:crypto";
import { type Kysely, type Migration, sql } from "kysely";

/** A migration: a transaction, or indexes that are created while the table is in use. */
export type SchemaChange = Migration | IndexChange;

/** Indexes to create, by name with their table and columns, and indexes to drop. */
export type IndexChange = {
  makeIndexes: Record<string, string>;
  /** Those that only PostgreSQL needs, or needs otherwise. */
  makeOnPostgres?: Record<string, string>;
  dropIndexes?: string[];
};

/**
 * All migrations, in order, in SQL that both engines accept. Never edit one that has been released.
 *
 * They expand the schema, and contract it one release later: during a rolling upgrade, builds before and after a
 * migration run at the same time, and a build that is rolled back finds the newer schema. So a migration may add
 * tables, indexes and optional columns. It must not update rows one by one, or lock a table for longer than the
 * statement itself takes. A later release drops what no running build reads. `tests/lib/db/migrations.test.ts` runs
 * older lists of migrations on today's schema.
 */
export const migrations: Record<string, SchemaChange> = {
  "001-first-tables": {
    async up(db: Kysely<unknown>) {
      await db.schema
        .createTable("accounts")
        .addColumn("id", "text", (column) => column.primaryKey())
        .addColumn("email", "text", (column) => column.notNull().unique())
        .addColumn("subject", "text", (column) => column.unique())
        .addColumn("plan", "text", (column) => column.notNull())
        .addColumn("trial_ends_at_ms", "bigint")
        .addColumn("assistant_limit", "bigint")
        .addColumn("credit_thousandths", "bigint", (column) => column.notNull().defaultTo(0))
        .addColumn("created_at_ms", "bigint", (column) => column.notNull())
        .addCheckConstraint("accounts_balance", sql`credit_thousandths >= 0`)
        .execute();
      await db.schema
        .createTable("credit_entries")
        .addColumn("id", "text", (column) => column.primaryKey())
        .addColumn("account_id", "text", (column) =>
          column.notNull().references("accounts.id").onDelete("cascade"),
        )
        .addColumn("thousandths", "bigint", (column) => column.notNull())
        .addColumn("reason", "text", (column) => column.notNull())
        .addColumn("created_at_ms", "bigint", (column) => column.notNull())
        .execute();
      await db.schema
        .createIndex("credit_entries_account")
        .on("credit_entries")
        .column("account_id")
        .execute();
      await db.schema
        .createTable("site_banner")
        .addColumn("id", "bigint", (column) => column.primaryKey())
        .addColumn("kind", "text", (column) => column.notNull())
        .addColumn("message", "text", (column) => column.notNull())
        .addColumn("starts_at_ms", "bigint")
        .addColumn("ends_at_ms", "bigint")
        .execute();
      await db.schema
        .createTable("onboarding_emails")
        .addColumn("id", "text", (column) => column.primaryKey())
        .addColumn("account_id", "text", (column) =>
          column.notNull().references("accounts.id").onDelete("cascade"),
        )
        .addColumn("kind", "text", (column) => column.notNull())
        .addColumn("due_at_ms", "bigint", (column) => column.notNull())
        .addColumn("state", "text", (column) => column.notNull())
        .addUniqueConstraint("onboarding_emails_once", ["account_id", "kind"])
        .execute();
      await db.schema
        .createTable("email_suppressions")
        .addColumn("email_hash", "text", (column) => column.primaryKey())
        .addColumn("created_at_ms", "bigint", (column) => column.notNull())
        .execute();
      await db.schema
        .createTable("local_sessions")
        .addColumn("id", "text", (column) => column.primaryKey())
        .addColumn("account_id", "text", (column) =>
          column.notNull().references("accounts.id").onDelete("cascade"),
        )
        .addColumn("expires_at_ms", "bigint", (column) => column.notNull())
        .execute();
      await db.schema
        .createIndex("local_sessions_account")
        .on("local_sessions")
        .column("account_id")
        .execute();
    },
  },
  "002-sign-in": {
    async up(db: Kysely<unknown>) {
      await db.schema
        .createTable("waitlist")
        .addColumn("email", "text", (column) => column.primaryKey())
        .addColumn("joined_at_ms", "bigint", (column) => column.notNull())
        .addColumn("invited_at_ms", "bigint")
        .execute();
      await db.schema
        .createTable("invitations")
        .addColumn("id", "text", (column) => column.primaryKey())
        .addColumn("email", "text", (column) => column.notNull())
        .addColumn("token_hash", "text", (column) => column.unique())
        .addColumn("plan", "text", (column) => column.notNull())
        .addColumn("trial_ends_at_ms", "bigint")
        .addColumn("trial_days", "bigint")
        .addColumn("assistant_limit", "bigint")
        .addColumn("credit_thousandths", "bigint")
        .addColumn("created_at_ms", "bigint", (column) => column.notNull())
        .addColumn("expires_at_ms", "bigint", (column) => column.notNull())
        .addColumn("accepted_at_ms", "bigint")
        .execute();
      await db.schema.createIndex("invitations_email").on("invitations").column("email").execute();
      await db.schema
        .createTable("sign_in_codes")
        .addColumn("browser_hash", "text", (column) => column.primaryKey())
        .addColumn("email", "text", (column) => column.notNull())
        .addColumn("code_hash", "text", (column) => column.notNull())
        .addColumn("tries", "bigint", (column) => column.notNull())
        .addColumn("created_at_ms", "bigint", (column) => column.notNull())
        .addColumn("expires_at_ms", "bigint", (column) => column.notNull())
        .execute();
      await db.schema.createIndex("sign_in_codes_email").on("sign_in_codes").column("email").execute();
      await db.schema.alterTable("local_sessions").addColumn("client_hash", "text").execute();
      await db.schema
        .createIndex("local_sessions_client")
        .unique()
        .on("local_sessions")
        .column("client_hash")
        .execute();
      await db.schema
        .createTable("clerk_users")
        .addColumn("id", "text", (column) => column.primaryKey())
        .addColumn("email", "text", (column) => column.notNull())
        .addColumn("updated_at_ms", "bigint", (column) => column.notNull())
        .addColumn("is_deleted", "bigint", (column) => column.notNull().defaultTo(0))
        .execute();
    },
  },
  "003-mail-delivery": {
    async up(db: Kysely<TablesAt003>) {
      // The rows now outlive their account, and SQLite cannot drop a foreign key, so the table is created again.
      await db.schema.alterTable("onboarding_emails").renameTo("onboarding_emails_before").execute();
      await db.schema
        .createTable("onboarding_emails")
        .addColumn("id", "text", (column) => column.primaryKey())
        .addColumn("account_id", "text", (column) => column.notNull())
        .addColumn("recipient_hash", "text", (column) => column.notNull())
        .addColumn("kind", "text", (column) => column.notNull())
        .addColumn("due_at_ms", "bigint", (column) => column.notNull())
        .addColumn("state", "text", (column) => column.notNull())
        .addColumn("next_attempt_at_ms", "bigint", (column) => column.notNull())
        .addColumn("attempts", "bigint", (column) => column.notNull().defaultTo(0))
        .addColumn("first_attempt_at_ms", "bigint")
        .addColumn("lease_until_ms", "bigint")
        .addColumn("failure", "text")
        .addUniqueConstraint("onboarding_emails_once_each", ["account_id", "kind"])
        .execute();
      const rows = await db
        .selectFrom("onboarding_emails_before as before")
        .innerJoin("accounts", "accounts.id", "before.account_id")
        .select(["before.id", "account_id", "kind", "due_at_ms", "state", "email"])
        .execute();
      const yesterdayMs = Date.now() - 24 * 60 * 60 * 1000;
      for (const { email, ...row } of rows) {
        // No mail was delivered before this migration. Overdue mails would now arrive all at once, and too late to be
        // useful.
        const isTooLate = row.state === "scheduled" && row.due_at_ms < yesterdayMs;
        const late = isTooLate ? { state: "failed", failure: "due before mail was delivered" } : {};
        await db
          .insertInto("onboarding_emails")
          .values({
            ...row,
            recipient_hash: hashEmailAt003(email),
            next_attempt_at_ms: row.due_at_ms,
            ...late,
          })
          .execute();
      }
      await db.schema.dropTable("onboarding_emails_before").execute();
      await db.schema
        .createIndex("onboarding_emails_due")
        .on("onboarding_emails")
        .columns(["state", "next_attempt_at_ms"])
        .execute();
      await db.schema
        .createIndex("onboarding_emails_recipient")
        .on("onboarding_emails")
        .column("recipient_hash")
        .execute();
    },
  },
  "004-sessions-and-keys": {
    async up(db: Kysely<unknown>) {
      await db.schema
        .createTable("signing_keys")
        .addColumn("kid", "text", (column) => column.primaryKey())
        .addColumn("place", "bigint", (column) => column.notNull().unique())
        .addColumn("issuer", "text", (column) => column.notNull())
        .addColumn("sealed_key", "text")
        .addColumn("made_at_ms", "bigint", (column) => column.notNull())
        .addColumn("signs_from_ms", "bigint")
        .addColumn("verifies_until_ms", "bigint")
        .addColumn("revoked_at_ms", "bigint")
        .execute();
      const alterSessions = () => db.schema.alterTable("local_sessions");
      await alterSessions().addColumn("kind", "text").execute();
      await alterSessions().addColumn("name", "text").execute();
      await alterSessions().addColumn("begun_at_ms", "bigint").execute();
      await alterSessions().addColumn("last_seen_at_ms", "bigint").execute();
      await alterSessions()
        .addColumn("made_in", "text", (column) => column.references("local_sessions.id").onDelete("cascade"))
        .execute();
      for (const column of ["expires_at_ms", "made_in"]) {
        await db.schema.createIndex(`local_sessions_${column}`).on("local_sessions").column(column).execute();
      }
    },
  },
  "005-sign-in-mails": {
    async up(db: Kysely<unknown>) {
      await db.schema
        .createTable("sign_in_mails")
        .addColumn("id", "text", (column) => column.primaryKey())
        .addColumn("kind", "text", (column) => column.notNull())
        .addColumn("sealed", "text", (column) => column.notNull())
        .addColumn("attempts", "bigint", (column) => column.notNull().defaultTo(0))
        .addColumn("next_attempt_at_ms", "bigint", (column) => column.notNull())
        .addColumn("expires_at_ms", "bigint", (column) => column.notNull())
        .execute();
      await db.schema
        .createIndex("sign_in_mails_next")
        .on("sign_in_mails")
        .column("next_attempt_at_ms")
        .execute();
    },
  },
  // Partial indexes for the mail runner: finding the next mail stays fast, however many were sent.
  "007-mail-indexes": {
    makeIndexes: {
      onboarding_emails_scheduled: "onboarding_emails (next_attempt_at_ms) where state = 'scheduled'",
      onboarding_emails_sending: "onboarding_emails (lease_until_ms) where state = 'sending'",
    },
    dropIndexes: ["onboarding_emails_due"],
  },
  "008-sign-in-emails": {
    async up(db: Kysely<unknown>) {
      const codes = () => db.schema.alterTable("sign_in_codes");
      await codes()
        .addColumn("share", "text", (column) => column.notNull().defaultTo("stranger"))
        .execute();
      await codes().addColumn("asker_hash", "text").execute();
      await db.schema
        .createIndex("sign_in_codes_created")
        .on("sign_in_codes")
        .column("created_at_ms")
        .execute();
      await db.schema
        .createIndex("sign_in_codes_share")
        .on("sign_in_codes")
        .columns(["email", "share", "created_at_ms"])
        .execute();
      await db.schema
        .createTable("sign_in_emails")
        .addColumn("email", "text", (column) => column.primaryKey())
        .addColumn("long_code_hash", "text", (column) => column.notNull())
        .addColumn("long_code_until_ms", "bigint", (column) => column.notNull())
        .execute();
      await db.schema
        .createIndex("sign_in_emails_until")
        .on("sign_in_emails")
        .column("long_code_until_ms")
        .execute();
    },
  },
  "009-connect": {
    async up(db: Kysely<unknown>) {
      await db.schema
        .createTable("connect_state")
        .addColumn("kind", "text", (column) => column.notNull())
        .addColumn("id_hash", "text", (column) => column.notNull())
        .addColumn("payload", "text", (column) => column.notNull())
        .addColumn("grant_id", "text")
        .addColumn("look_up_hash", "text")
        .addColumn("consumed_at_ms", "bigint")
        .addColumn("expires_at_ms", "bigint", (column) => column.notNull())
        .addPrimaryKeyConstraint("connect_state_id", ["kind", "id_hash"])
        .execute();
      for (const column of ["grant_id", "look_up_hash", "expires_at_ms"]) {
        await db.schema.createIndex(`connect_state_${column}`).on("connect_state").column(column).execute();
      }
    },
  },
  "010-audit": {
    async up(db: Kysely<unknown>) {
      await db.schema
        .createTable("audit_entries")
        .addColumn("id", "text", (column) => column.primaryKey())
        .addColumn("at_ms", "bigint", (column) => column.notNull())
        .addColumn("who", "text", (column) => column.notNull())
        .addColumn("what", "text", (column) => column.notNull())
        .addColumn("whom", "text")
        .addColumn("before", "text")
        .addColumn("after", "text")
        .execute();
      const index = (name: string) => db.schema.createIndex(`audit_entries_${name}`).on("audit_entries");
      await index("at").columns(["at_ms", "id"]).execute();
      await index("whom").columns(["whom", "at_ms", "id"]).execute();
    },
  },
  // For the deletion of old rows.
  "011-retention": {
    makeIndexes: {
      waitlist_joined: "waitlist (joined_at_ms, email)",
      invitations_created: "invitations (created_at_ms)",
      onboarding_emails_settled: "onboarding_emails (due_at_ms) where state in ('sent', 'stopped', 'failed')",
    },
  },
  "020-connect-clients": {
    async up(db: Kysely<unknown>) {
      await db.schema
        .createTable("connect_clients")
        .addColumn("id", "text", (column) => column.primaryKey())
        .addColumn("name", "text", (column) => column.notNull())
        .addColumn("redirect_uris", "text", (column) => column.notNull())
        .addColumn("added_at_ms", "bigint", (column) => column.notNull())
        .execute();
    },
  },
  // For counting failed mails, however many were sent.
  "040-failed-mails": {
    makeIndexes: {
      onboarding_emails_failed: "onboarding_emails (next_attempt_at_ms) where state = 'failed'",
    },
  },
  // Every instance queries these once an hour.
  "041-erasures": {
    makeIndexes: {
      audit_entries_erasures: "audit_entries (at_ms) where what = 'person erase'",
    },
  },
  // For evicting the oldest unanswered authorization request.
  "042-connect-pending": {
    makeIndexes: {
      connect_state_pending: "connect_state (kind, expires_at_ms) where grant_id is null",
    },
  },
  // The waiting emails are counted at every join.
  "043-waitlist-waiting": {
    makeIndexes: {
      waitlist_waiting: "waitlist (joined_at_ms) where invited_at_ms is null",
    },
  },
  "044-clerk-ends": {
    async up(db: Kysely<unknown>) {
      const users = () => db.schema.alterTable("clerk_users");
      await users().addColumn("barred_until_ms", "bigint").execute();
      await users().addColumn("barred_told_at_ms", "bigint").execute();
      await db.schema.alterTable("local_sessions").addColumn("clerk_session", "text").execute();
      await db.schema
        .createTable("clerk_sessions_ended")
        .addColumn("id", "text", (column) => column.primaryKey())
        .addColumn("ended_at_ms", "bigint", (column) => column.notNull())
        .execute();
      await db.schema
        .createIndex("clerk_sessions_ended_at")
        .on("clerk_sessions_ended")
        .column("ended_at_ms")
        .execute();
    },
  },
  "045-refresh-token-parents": {
    async up(db: Kysely<unknown>) {
      await db.schema.alterTable("connect_state").addColumn("parent_hash", "text").execute();
    },
  },
  "047-app-end-mails": {
    async up(db: Kysely<unknown>) {
      await db.schema.alterTable("local_sessions").addColumn("end_mail_at_ms", "bigint").execute();
      await db.schema.alterTable("accounts").addColumn("app_end_mails_stopped_at_ms", "bigint").execute();
    },
  },
  // Every instance looks once a minute for mails that are due.
  "048-app-end-mails-due": {
    makeIndexes: {
      local_sessions_end_mail: "local_sessions (end_mail_at_ms) where end_mail_at_ms is not null",
    },
  },
  "050-passkeys": {
    async up(db: Kysely<unknown>) {
      const sessions = () => db.schema.alterTable("local_sessions");
      await sessions().addColumn("confirmed_at_ms", "bigint").execute();
      await sessions().addColumn("confirmed_by", "text").execute();
      await db.schema
        .createTable("passkeys")
        .addColumn("id", "text", (column) => column.primaryKey())
        .addColumn("account_id", "text", (column) =>
          column.notNull().references("accounts.id").onDelete("cascade"),
        )
        .addColumn("credential_id", "text", (column) => column.notNull().unique())
        .addColumn("rp_id", "text", (column) => column.notNull())
        .addColumn("public_key", "text", (column) => column.notNull())
        .addColumn("counter", "bigint", (column) => column.notNull())
        .addColumn("name", "text", (column) => column.notNull())
        .addColumn("added_at_ms", "bigint", (column) => column.notNull())
        .addColumn("last_used_at_ms", "bigint")
        .execute();
      await db.schema.createIndex("passkeys_account").on("passkeys").column("account_id").execute();
      await db.schema
        .createTable("passkey_challenges")
        .addColumn("challenge", "text", (column) => column.primaryKey())
        .addColumn("expires_at_ms", "bigint", (column) => column.notNull())
        .execute();
      await db.schema
        .createTable("passkey_offers")
        .addColumn("account_id", "text", (column) =>
          column.primaryKey().references("accounts.id").onDelete("cascade"),
        )
        .addColumn("declined_at_ms", "bigint", (column) => column.notNull())
        .execute();
    },
  },
  "055-billing": {
    async up(db: Kysely<unknown>) {
      const account = "account_id text not null references accounts (id) on delete cascade";
      const lastEvent = "created_at_ms bigint not null, last_event text, last_event_at_ms bigint";
      for (const statement of [
        `create table billing_customers (account_id text primary key references accounts (id) on delete cascade,
          customer_id text not null unique, created_at_ms bigint not null, licence text, plan_before text,
          trial_ends_before_ms bigint, limit_before bigint, limit_given bigint)`,
        `create table billing_subscriptions (id text primary key, ${account}, status text not null,
          assistant_limit bigint, period_ends_ms bigint not null, ends_at_ms bigint,
          licence_until_ms bigint not null, version bigint not null, ${lastEvent})`,
        `create table billing_checkouts (id text primary key, ${account}, kind text not null, price_id text not null,
          thousandths bigint not null, state text not null, session_id text unique,
          refunded_thousandths bigint not null default 0, ${lastEvent})`,
        // Two tabs that buy at once get the same checkout.
        "create unique index billing_checkouts_open on billing_checkouts (account_id, kind) where state = 'open'",
      ]) {
        await sql.raw(statement).execute(db);
      }
    },
  },
  // For the reconciler, which looks for them every ten minutes.
  "056-billing-unsettled": {
    makeIndexes: {
      billing_checkouts_account: "billing_checkouts (account_id)",
      billing_subscriptions_account: "billing_subscriptions (account_id)",
      billing_checkouts_unsettled: "billing_checkouts (created_at_ms) where state in ('open', 'unpaid')",
      billing_subscriptions_current: "billing_subscriptions (period_ends_ms) where licence_until_ms > 0",
    },
  },
  "070-session-starts": {
    async up(db: Kysely<unknown>) {
      for (const column of ["begun_by", "begun_in", "network"]) {
        await db.schema.alterTable("local_sessions").addColumn(column, "text").execute();
      }
    },
  },
  // Most sessions were made in none: after ANALYZE, SQLite scanned them all for each that ended.
  "080-sessions-made": {
    makeIndexes: { local_sessions_made: "local_sessions (made_in) where made_in is not null" },
    dropIndexes: ["local_sessions_made_in"],
  },
  "081-trial-mails": {
    async up(db: Kysely<unknown>) {
      const accounts = () => db.schema.alterTable("accounts");
      await accounts().addColumn("trial_mail_done_ms", "bigint").execute();
      await accounts().addColumn("trial_mail_next_at_ms", "bigint").execute();
    },
  },
  // Every instance looks once a minute for mails that are due: three days before the end of a trial, and at its end.
  "082-trial-mails-due": {
    makeIndexes: {
      accounts_trial_ending:
        "accounts (trial_ends_at_ms) where plan = 'trial' and created_at_ms <= trial_ends_at_ms - 259200000 and (trial_mail_done_ms is null or trial_mail_done_ms < trial_ends_at_ms - 259200000)",
      accounts_trial_ended:
        "accounts (trial_ends_at_ms) where plan = 'trial' and created_at_ms < trial_ends_at_ms and (trial_mail_done_ms is null or trial_mail_done_ms < trial_ends_at_ms)",
    },
  },
  "085-status-outages": {
    async up(db: Kysely<unknown>) {
      await db.schema
        .createTable("status_outages")
        .addColumn("part", "text", (column) => column.notNull())
        .addColumn("started_at_ms", "bigint", (column) => column.notNull())
        .addColumn("seen_at_ms", "bigint", (column) => column.notNull())
        .addColumn("ended_at_ms", "bigint")
        .addPrimaryKeyConstraint("status_outages_key", ["part", "started_at_ms"])
        .execute();
      const open =
        "create unique index status_outages_open on status_outages (part) where ended_at_ms is null";
      await sql.raw(open).execute(db);
    },
  },
  "090-sign-in-mail-attempts": {
    async up(db: Kysely<unknown>) {
      await db.schema
        .createTable("sign_in_mail_attempts")
        .addColumn("id", "text", (column) => column.primaryKey())
        .addColumn("email", "text", (column) => column.notNull())
        .addColumn("kind", "text", (column) => column.notNull())
        .addColumn("at_ms", "bigint", (column) => column.notNull())
        .addColumn("state", "text", (column) => column.notNull())
        .addColumn("failure", "text")
        .execute();
      const index = (name: string) =>
        db.schema.createIndex(`sign_in_mail_attempts_${name}`).on("sign_in_mail_attempts");
      await index("email").columns(["email", "at_ms"]).execute();
      await index("at").column("at_ms").execute();
    },
  },
  // For the operator's overview.
  "091-overview": {
    makeIndexes: {
      accounts_trials: "accounts (trial_ends_at_ms) where plan = 'trial'",
      email_suppressions_created: "email_suppressions (created_at_ms)",
    },
  },
  "100-office": {
    async up(db: Kysely<unknown>) {
      await db.schema
        .createTable("operators")
        .addColumn("id", "text", (column) => column.primaryKey())
        .addColumn("name", "text", (column) => column.notNull().unique())
        .addColumn("added_at_ms", "bigint", (column) => column.notNull())
        .addColumn("link_hash", "text", (column) => column.unique())
        .addColumn("link_until_ms", "bigint")
        .execute();
      const createTableOf = (name: string, key: string) =>
        db.schema
          .createTable(name)
          .addColumn(key, "text", (column) => column.primaryKey())
          .addColumn("operator_id", "text", (column) =>
            column.notNull().references("operators.id").onDelete("cascade"),
          );
      await createTableOf("operator_passkeys", "credential_id")
        .addColumn("rp_id", "text", (column) => column.notNull())
        .addColumn("public_key", "text", (column) => column.notNull())
        .addColumn("counter", "bigint", (column) => column.notNull())
        .addColumn("added_at_ms", "bigint", (column) => column.notNull())
        .addColumn("last_used_at_ms", "bigint")
        .execute();
      await createTableOf("operator_sessions", "id_hash")
        .addColumn("begun_at_ms", "bigint", (column) => column.notNull())
        .addColumn("last_used_at_ms", "bigint", (column) => column.notNull())
        .addColumn("expires_at_ms", "bigint", (column) => column.notNull())
        .addColumn("proved_at_ms", "bigint", (column) => column.notNull())
        .execute();
      for (const table of ["operator_passkeys", "operator_sessions"]) {
        await db.schema.createIndex(`${table}_operator`).on(table).column("operator_id").execute();
      }
    },
  },
  // Each list of the office is read page by page in the order of an index.
  "101-office-lists": {
    makeIndexes: {
      accounts_plan: "accounts (plan, email)",
      accounts_created: "accounts (created_at_ms)",
      accounts_others: "accounts (plan) where plan <> 'trial'",
      clerk_users_email: "clerk_users (email)",
      audit_entries_who: "audit_entries (who, at_ms, id)",
      audit_entries_what: "audit_entries (what, at_ms, id)",
      audit_entries_who_what: "audit_entries (who, what, at_ms, id)",
      local_sessions_apps: "local_sessions (expires_at_ms) where kind = 'app'",
      onboarding_emails_failures: "onboarding_emails (next_attempt_at_ms, id) where state = 'failed'",
      sign_in_mail_failures: "sign_in_mail_attempts (at_ms, id) where state <> 'sent'",
    },
    // SQLite orders text by its bytes anyway; the order of other collations cannot find the start of an email.
    makeOnPostgres: {
      accounts_email_bytes: 'accounts (email collate "C")',
      accounts_plan: 'accounts (plan, (email collate "C"))',
    },
  },
};

/** The tables that migration 003 reads and writes, as of that migration. */
type TablesAt003 = {
  accounts: { id: string; email: string };
  onboarding_emails_before: {
    id: string;
    account_id: string;
    kind: string;
    due_at_ms: number;
    state: string;
  };
  onboarding_emails: {
    id: string;
    account_id: string;
    recipient_hash: string;
    kind: string;
    due_at_ms: number;
    state: string;
    next_attempt_at_ms: number;
    failure?: string;
  };
};

/** The email hash of migration 003. Stored rows contain it, so it must not change with today's hash. */
function hashEmailAt003(email: string): string {
  return createHash("sha256")
    .update(`corner-office:email-suppression:v1:${email.toLowerCase()}`)
    .digest("base64url");
}
