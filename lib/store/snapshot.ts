import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { rename } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import Database from "libsql";
import pg from "pg";

/** Where a store is. */
export type StorePlace = { dataDir: string; databaseUrl: string | undefined };

/** Copies the whole store as it is at one moment, while others write to it. PostgreSQL's needs its `pg_dump`. */
export async function copyStore({ dataDir, databaseUrl }: StorePlace, to: string): Promise<void> {
  if (databaseUrl) return runTool("pg_dump", databaseUrl, ["--format=custom", "--no-owner", `--file=${to}`]);
  const db = new Database(join(dataDir, "store.sqlite"), { timeout: 5000 } as Database.Options);
  try {
    db.prepare("VACUUM INTO ?").run([to]);
  } finally {
    db.close();
  }
}

/** Whether there is nothing yet where a store would be. */
export async function isEmptyPlace({ dataDir, databaseUrl }: StorePlace): Promise<boolean> {
  if (!databaseUrl) return !existsSync(join(dataDir, "store.sqlite"));
  const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: 5000 });
  await client.connect();
  try {
    const { rowCount } = await client.query(
      "SELECT 1 FROM pg_tables WHERE schemaname = current_schema() LIMIT 1",
    );
    return rowCount === 0;
  } finally {
    await client.end();
  }
}

/** Makes a store of a copy, whole or not at all, in an empty place. PostgreSQL's needs its `pg_restore`. */
export async function makeStoreOf({ dataDir, databaseUrl }: StorePlace, copy: string): Promise<void> {
  if (databaseUrl)
    return runTool("pg_restore", databaseUrl, ["--single-transaction", "--no-owner", "--dbname=", copy]);
  await rename(copy, join(dataDir, "store.sqlite"));
}

/** The address goes by the environment: who lists this machine's processes sees what they were started with. */
async function runTool(tool: string, databaseUrl: string, parameters: string[]): Promise<void> {
  const { hostname, port, username, password, pathname, searchParams } = new URL(databaseUrl);
  const given = {
    PGHOST: searchParams.get("host") ?? hostname,
    PGPORT: port,
    PGUSER: decodeURIComponent(username),
    PGPASSWORD: decodeURIComponent(password),
    PGDATABASE: decodeURIComponent(pathname.slice(1)),
    PGSSLMODE: searchParams.get("sslmode") ?? "",
  };
  const named = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ""));
  try {
    await promisify(execFile)(tool, parameters, { env: { ...process.env, ...named } });
  } catch (failure) {
    const { code, stderr = "" } = failure as { code?: unknown; stderr?: string };
    if (code === "ENOENT") throw new Error(`${tool} is not installed: it comes with PostgreSQL's own client`);
    throw new Error(`${tool}: ${stderr.trim().split("\n")[0]}`);
  }
}
