import { join } from "node:path";
import { sql } from "kysely";
import { type CheckResult, fault, fine, warning } from "@/lib/admin/check-result";
import { dayMs } from "@/lib/config/durations";
import { asIso } from "@/lib/config/instants";
import { settings } from "@/lib/config/settings";
import { findApiRoles } from "@/lib/db/api-roles";
import { findLastBackup } from "@/lib/db/audit";
import { findToolFault, toolRemedy } from "@/lib/db/backup-copy";
import { isSequenceBehind } from "@/lib/db/event-sequence";
import { oldStore } from "@/lib/db/migrate";
import { type Db, migratedStore, store } from "@/lib/db/store";
import { transact } from "@/lib/db/transaction";
import { measureDisk, sizeOf } from "@/lib/runtime/disk";

/* What `check` says of the store, its disk and its backup. */

const maxSkewMs = 60_000; // 1 minute

export async function checkStore(): Promise<CheckResult> {
  const db = await migratedStore();
  const { databaseUrl, dataDir } = settings();
  if (!databaseUrl) {
    const { rows } = await sql<{ quick_check: string }>`PRAGMA quick_check(1)`.execute(db);
    const [result] = rows;
    if (result?.quick_check !== "ok") throw new Error(`it is damaged: ${result?.quick_check}`);
  }
  await transact(db.withoutPlugins(), async (transaction) => {
    const probe = { email_hash: "check", created_at_ms: 0 };
    await transaction.insertInto("email_suppressions").values(probe).execute();
    await transaction.deleteFrom("email_suppressions").where("email_hash", "=", probe.email_hash).execute();
  });
  if (databaseUrl) return checkPostgres(db, databaseUrl);
  const { rows } = await sql<{ version: string }>`SELECT sqlite_version() AS version`.execute(db);
  return fine(`embedded, SQLite ${rows[0]?.version}, in ${dataDir}`);
}

/** Free space, of which a store needs as much again as it has: for a backup, a migration and its log of writes. */
export async function checkDisk(): Promise<CheckResult> {
  const { dataDir, databaseUrl } = settings();
  const disk = await measureDisk(dataDir).catch((failure: NodeJS.ErrnoException) => {
    if (databaseUrl && failure.code === "ENOENT") return undefined;
    throw failure;
  });
  if (!disk) return fine(`nothing was written to ${dataDir} yet`);
  const { freeBytes, allBytes, share } = disk;
  if (share && !databaseUrl)
    return warning(
      `${dataDir} is on ${share}, where SQLite can lose what it has written`,
      "Use a disk of this machine or a block volume as DATA_DIR, or set DATABASE_URL.",
    );
  const storeBytes = databaseUrl ? 0 : sizeOf(join(dataDir, "store.sqlite"));
  const detail = `${asGigabytes(freeBytes)} of ${asGigabytes(allBytes)} GB free for ${dataDir}`;
  if (freeBytes >= Math.max(allBytes / 20, storeBytes)) return fine(detail);
  return warning(
    detail,
    "Make room: a full disk takes no writes, and a backup needs as much as the store has.",
  );
}

const asGigabytes = (bytes: number) => (bytes / 1e9).toFixed(1);

const oldBackupMs = 2 * dayMs;

export async function checkBackup(nowMs = Date.now()): Promise<CheckResult> {
  const { databaseUrl, production } = settings();
  const db = await store();
  const madeAtMs = await findLastBackup(db);
  const detail = madeAtMs === undefined ? "none was made" : `the last was made ${asIso(madeAtMs)}`;
  // A backup may be made in another way, but ours must not fail in the night in which it is first made.
  const lack = databaseUrl && (await findToolFault(db));
  if (lack) return warning(`${detail}; 'backup' and 'restore' do not work here: ${lack}`, toolRemedy);
  if (madeAtMs === undefined)
    return production
      ? warning(detail, "Run 'backup' each night by a timer, unless another program makes backups.")
      : fine(detail);
  return nowMs - madeAtMs >= oldBackupMs
    ? warning(detail, "See why the timer's last 'backup' failed.")
    : fine(detail);
}

/** A fault if this machine's clock and another one are more than a minute apart: trials and tokens end by them. */
export function checkClock(store: string, storeMs: number): CheckResult | undefined {
  const aheadMs = Date.now() - storeMs;
  if (!(Math.abs(aheadMs) > maxSkewMs)) return undefined;
  return fault(
    `this clock is ${Math.round(Math.abs(aheadMs) / 1000)} seconds ${aheadMs < 0 ? "behind" : "ahead of"} ${store}'s`,
    "Set the clocks of both machines by NTP.",
  );
}

/** Whether all reads see what was written, the role may read and write every table, each character can be stored, and the clocks agree. */
async function checkPostgres(db: Db, databaseUrl: string): Promise<CheckResult> {
  const { readsStandby } = await import("@/lib/db/postgres/hosts");
  if (await readsStandby(databaseUrl))
    return fault(
      "reads are led to a standby, which may lack what was just written: sessions seem to have ended, and ended ones go on",
      "Turn that off at the pooler in DATABASE_URL (load_balance_mode = off in Pgpool-II), or name the primary.",
    );
  const { rows: missing } = await sql<{ what: string }>`
    SELECT string_agg(privilege, ', ') || ' on ' || relname AS what
    FROM pg_class, unnest(CASE relkind WHEN 'r' THEN ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE'] ELSE ARRAY['USAGE', 'SELECT'] END) AS privilege
    WHERE relnamespace = quote_ident(current_schema())::regnamespace AND relkind IN ('r', 'S') AND relname NOT LIKE 'kysely%'
      AND NOT CASE relkind WHEN 'r' THEN has_table_privilege(pg_class.oid, privilege)
        ELSE has_sequence_privilege(pg_class.oid, privilege) END
    GROUP BY relname ORDER BY relname`.execute(db);
  if (missing.length > 0)
    return fault(
      `PostgreSQL answers, but the role lacks ${missing.map(({ what }) => what).join("; ")}`,
      "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES and USAGE, SELECT ON ALL SEQUENCES to it, and ALTER DEFAULT PRIVILEGES for those of later migrations.",
    );
  const readers = await findApiRoles(db);
  if (readers.length > 0)
    return fault(
      `the roles ${readers.join(" and ")} may use our tables: if the provider has an HTTP API, as Supabase does, strangers read and write them`,
      "Run 'migrate' as the owner of the tables, which takes them from these roles; and turn that API off.",
    );
  if (await isSequenceBehind(db))
    return fault(
      "the sequence of events is behind its table, as logical replication leaves it: no account can be changed",
      "Run 'migrate' as the owner of the tables, which raises it.",
    );
  const { rows: servers } = await sql<{ ms: string; encoding: string }>`
    SELECT extract(epoch FROM clock_timestamp()) * 1000 AS ms, current_setting('server_encoding') AS encoding`.execute(
    db,
  );
  const { ms, encoding = "" } = servers[0] ?? {};
  if (!/^(?:UTF8|SQL_ASCII)$/.test(encoding))
    return fault(
      `the database is in ${encoding}, which lacks most of what people write`,
      "Restore a backup into a new one: CREATE DATABASE office ENCODING 'UTF8' TEMPLATE template0.",
    );
  return checkClock("PostgreSQL", Number(ms)) ?? (await checkCollation(db)) ?? fine("PostgreSQL answers");
}

/**
 * A fault if texts are ordered otherwise than when the indexes were made, as on another Debian's C library: emails that are there
 * are then not found (docker-library/postgres#1356, immich-app/immich#5907).
 */
async function checkCollation(db: Db): Promise<CheckResult | undefined> {
  const { rows } = await sql<{ name: string; made: string; now: string }>`
    SELECT datname AS name, datcollversion AS made, pg_database_collation_actual_version(oid) AS now
    FROM pg_database WHERE datname = current_database() AND datcollversion <> pg_database_collation_actual_version(oid)`
    .execute(db)
    .catch(() => ({ rows: [] })); // an engine that is not PostgreSQL itself
  const [other] = rows;
  if (!other) return undefined;
  return fault(
    `the indexes of the database were made with version ${other.made} of its collation, and the server has ${other.now}: accounts may not be found by their emails`,
    `Stop the service. As the owner of the database: REINDEX DATABASE "${other.name}"; ALTER DATABASE "${other.name}" REFRESH COLLATION VERSION;`,
  );
}

/** What to do where the store does not answer or takes no writes. */
export function remedyForStore(failure: Error): string {
  const known = /for schema/.test(failure.message) ? allowTables : storeRemedies[codeOf(failure)];
  const { databaseUrl, dataDir } = settings();
  if (known || databaseUrl)
    return known ?? "Check that PostgreSQL runs, that DATABASE_URL is correct and that it accepts writes.";
  return `Check that ${dataDir} is writable and its disk has space. Restore a damaged store from a backup.`;
}

/** The code of an error or of what caused it: of the system, of PostgreSQL (SQLSTATE) or of SQLite. */
export function codeOf(failure: unknown): string {
  const { code, errcode, cause } = (failure ?? {}) as { code?: string; errcode?: number; cause?: unknown };
  if (errcode !== undefined) return `SQLITE_${errcode}`;
  return code ?? (cause ? codeOf(cause) : "");
}

const compareLogin =
  "Compare the user and password in DATABASE_URL with the roles of PostgreSQL and its pg_hba.conf.";
/** Since PostgreSQL 15 only the owner of a database may, and at Azure not even that one. */
const allowTables =
  "GRANT USAGE, CREATE ON SCHEMA public to this role, which makes the tables; or run 'migrate' as a role that may.";
const correctHost = "Correct the host in DATABASE_URL: DNS does not know it here.";
const makeRoom = "Make room on the store's disk.";

/** What to do by the code of the store's error. */
const storeRemedies: Record<string, string> = {
  ECONNREFUSED: "Start PostgreSQL, or correct the host and port in DATABASE_URL.",
  ENOENT: "Start PostgreSQL, or correct the socket's folder in DATABASE_URL.",
  ENOTFOUND: correctHost,
  EAI_AGAIN: correctHost,
  "28P01": compareLogin,
  "28000": compareLogin,
  "3F000": "Create the schema that this role's search_path names: CREATE SCHEMA public.",
  "3D000": "Create the database, or correct its name in DATABASE_URL.",
  "25006": "Let PostgreSQL accept writes: is it a standby, or default_transaction_read_only on?",
  "42501":
    "Run 'migrate' as the owner of the tables, and grant this role the rights that lib/server/README.md grants.",
  "53100": makeRoom,
  "53300": "Lower DATABASE_POOL, or raise max_connections: each instance opens that many.",
  SQLITE_11: "Restore a backup: the file is damaged.",
  SQLITE_13: makeRoom,
  SQLITE_26: "Restore a backup: the file is damaged.",
  ENOSPC: makeRoom,
  [oldStore]: "lib/server/RELEASES.md says how.",
};
