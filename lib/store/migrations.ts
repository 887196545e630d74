import { type Kysely, type Migration, sql } from "kysely";

/** Every change of the schema, in order, in SQL that both engines speak. A landed one is never edited. */
export const migrations: Record<string, Migration> = {
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
};
