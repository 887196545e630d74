import { type Kysely, type QueryExecutorProvider, sql } from "kysely";
import type { Migration } from "kysely/migration";
import { createPlanTrigger, createTriggers, eventTriggers, isPostgres } from "@/lib/db/event-triggers";
import { firstSchema } from "@/lib/db/schema";

/** A migration: a transaction, of SQL statements or by hand, or indexes that are created while the table is in use. */
export type SchemaChange = readonly string[] | Migration | IndexChange;

/** Indexes by name, with their table and columns, or by engine where these differ; `null` drops one. */
export type IndexChange = Record<string, string | { embedded?: string; postgres: string } | null>;

/** Executes SQL statements one after the other. */
export async function executeAll(db: QueryExecutorProvider, statements: readonly string[]): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

/** The migration that makes an empty store. */
export const firstMigration = "269-first-release";

/**
 * What builds before the first release recorded instead of it: this many migrations, whose names come before `until`. The
 * last one of these builds, `commit`, applies all of them; their schema is that of the first migration.
 */
export const beforeRelease = {
  until: "263",
  count: 80,
  commit: "36033cb478b3bfa48aedaf209f9444b640ff3301",
};

/**
 * All migrations, in order, in SQL that both engines accept. Never edit one that has been released.
 *
 * They expand the schema: during a rolling upgrade, builds before and after a migration run at the same time, and a build
 * that is rolled back finds the newer schema. So a migration may add tables, indexes and optional columns. It must not
 * update rows one by one, or lock a table for longer than the statement itself takes. A release drops a column only when
 * the release before neither reads nor writes it any more: the one after 1.0.0 can drop `accounts.trial_mail_next_at_ms`.
 */
export const migrations: Record<string, SchemaChange> = {
  [firstMigration]: {
    async up(db: Kysely<unknown>) {
      await executeAll(db, firstSchema(isPostgres(db)));
      await createTriggers(db, eventTriggers);
    },
  },
  "270-email-changes": [
    `create table email_changes (id text primary key, account_id text not null references accounts (id) on delete cascade,
        from_email text not null, to_email text not null, mailbox_hash text not null, asked_at_ms bigint not null,
        until_ms bigint not null, from_confirmed_at_ms bigint, to_confirmed_at_ms bigint, changed_at_ms bigint,
        told_at_ms bigint)`,
    "create index email_changes_account on email_changes (account_id, asked_at_ms)",
    "create index email_changes_mailbox on email_changes (mailbox_hash, asked_at_ms)",
    "create index email_changes_to on email_changes (to_email)",
    "create index email_changes_untold on email_changes (changed_at_ms) where changed_at_ms is not null and told_at_ms is null",
  ],
  // No build reads or writes these columns since a proof ends the old cookie.
  "305-unread-columns": [
    "alter table operator_sessions drop column former_hash",
    "alter table operator_sessions drop column former_until_ms",
  ],
  "306-time-zones": ["alter table accounts add column time_zone text"],
  "320-next-attempts": ["alter table billing_subscriptions add column next_attempt_ms bigint"],
  "330-former-emails": {
    email_changes_from: "email_changes (from_email, changed_at_ms) where changed_at_ms is not null",
  },
  // Indexes in the order in which an export reads the rows.
  "341-exports": {
    holds_made: "holds (account_id, created_at_ms, id)",
    holds_account: null,
    events_written: "events (account_id, seq)",
  },
  "342-moved-accounts": ["alter table email_changes add column asked_by text"],
  "343-swept-events": ["alter table event_numbers add column swept_event text"],
  "344-changed-plans": {
    async up(db: Kysely<unknown>) {
      const columns = "seq bigint primary key, plan text not null, data text not null, last_account_id text";
      await executeAll(db, [`create table changed_plans (${columns})`]);
      await createPlanTrigger(db);
    },
  },
  "345-entries-of-checkouts": {
    credit_entries_checkout: "credit_entries (account_id, checkout) where checkout is not null",
  },
};
