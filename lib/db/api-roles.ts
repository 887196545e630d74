import { sql } from "kysely";
import type { Db } from "@/lib/db/store";
import { tableNames } from "@/lib/db/tables";
import { log } from "@/lib/runtime/log";

/*
 * Supabase serves tables by HTTP to anyone who has the public key of the project, as the roles `anon` and `authenticated`, to
 * which its default privileges give every table that is made (https://supabase.com/docs/guides/database/hardening-data-api;
 * tamagui/tamagui#4054); Neon's first role is `anonymous`. Row-level security would close ours to our own role too, where that is not their owner.
 */

const ours = sql.join(tableNames.map((name) => sql.lit(name)));

/** The roles among these that have any privilege on our tables. */
export async function findApiRoles(db: Db): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    SELECT DISTINCT rolname AS name FROM pg_class, aclexplode(relacl) AS acl JOIN pg_roles ON pg_roles.oid = acl.grantee
    WHERE relnamespace = quote_ident(current_schema())::regnamespace AND relname IN (${ours}) AND NOT relrowsecurity
      AND rolname IN ('anon', 'anonymous', 'authenticated') ORDER BY name`.execute(db);
  return rows.map(({ name }) => name);
}

const closed = "strangers could reach the store by its provider's HTTP API, and cannot any more";
const open =
  "strangers may reach the store by its provider's HTTP API: run 'migrate' as the owner of the tables";

/** Takes our tables from these roles. Where our own role is not their owner, `check` says who has to. */
export async function closeToApi(db: Db): Promise<void> {
  try {
    const roles = await findApiRoles(db);
    if (roles.length === 0) return;
    const named = sql.join(roles.map((role) => sql.id(role)));
    const tables = sql.join(tableNames.map((name) => sql.id(name)));
    // It names audited tables, and writes to none.
    await sql`REVOKE ALL ON ${tables} FROM ${named}`.execute(db.withoutPlugins());
    // One who is not their owner is only warned.
    const isClosed = (await findApiRoles(db)).length === 0;
    log().warn({ roles }, isClosed ? closed : open);
  } catch (failure) {
    log().warn(
      { err: failure },
      "it is not known that strangers cannot reach the store by its provider's HTTP API",
    );
  }
}
