import { type ChildProcess, spawn } from "node:child_process";
import { createWriteStream, existsSync, linkSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import Database from "libsql";

/** The location of a store. */
type StoreLocation = { dataDir: string; databaseUrl: string | undefined };

/**
 * Streams a consistent snapshot of the store while others write to it. It is encrypted as it is read, and never stored
 * in the clear. PostgreSQL needs `pg_dump`.
 */
export function readStore({ dataDir, databaseUrl }: StoreLocation): AsyncGenerator<Buffer> {
  return databaseUrl ? dump(databaseUrl) : readPages(join(dataDir, "store.sqlite"));
}

/** The pages of a SQLite database in order, which make up its file (https://sqlite.org/dbpage.html). */
async function* readPages(path: string): AsyncGenerator<Buffer> {
  const db = new Database(path, { timeout: 5000 } as Database.Options);
  try {
    db.exec("BEGIN");
    for (const row of db.prepare("SELECT data FROM sqlite_dbpage ORDER BY pgno").iterate([])) {
      yield Buffer.from((row as { data: ArrayBuffer }).data);
    }
  } finally {
    db.exec("ROLLBACK"); // the binding closes late, and no one could truncate the write-ahead log until then
    db.close();
  }
}

async function* dump(databaseUrl: string): AsyncGenerator<Buffer> {
  const parameters = ["--format=custom", "--no-owner"];
  const { child, ended } = await startTool("pg_dump", databaseUrl, parameters);
  try {
    yield* child.stdout as Readable;
    await ended;
  } finally {
    child.kill();
  }
}

/** Whether there is no store yet at this location. */
export async function isEmptyLocation({ dataDir, databaseUrl }: StoreLocation): Promise<boolean> {
  if (!databaseUrl) return !existsSync(join(dataDir, "store.sqlite"));
  const { openUnlimitedPool } = await import("@/lib/db/postgres");
  const pool = await openUnlimitedPool(databaseUrl);
  try {
    const { rowCount } = await pool.query(
      "SELECT 1 FROM pg_tables WHERE schemaname = current_schema() LIMIT 1",
    );
    return rowCount === 0;
  } finally {
    await pool.end();
  }
}

/** Creates a store from a snapshot, completely or not at all, at an empty location. PostgreSQL needs `pg_restore`. */
export function writeStore(
  { dataDir, databaseUrl }: StoreLocation,
  copy: AsyncIterable<Buffer>,
  signal: AbortSignal,
): Promise<void> {
  return databaseUrl ? load(databaseUrl, copy, signal) : writePages(dataDir, copy, signal);
}

async function writePages(dataDir: string, copy: AsyncIterable<Buffer>, signal: AbortSignal): Promise<void> {
  const folder = mkdtempSync(join(dataDir, "copy-"));
  try {
    const draft = join(folder, "store");
    await pipeline(copy, createWriteStream(draft, { mode: 0o600, flush: true }), { signal });
    linkSync(draft, join(dataDir, "store.sqlite")); // fails if a store exists by now
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Removes unencrypted copies left by a killed restore, or by a killed backup of an older build. */
export function sweepDrafts(dataDir: string): void {
  if (!existsSync(dataDir)) return;
  for (const name of readdirSync(dataDir)) {
    if (/^copy-\w{6}$/.test(name)) rmSync(join(dataDir, name), { recursive: true, force: true });
  }
}

async function load(databaseUrl: string, copy: AsyncIterable<Buffer>, signal: AbortSignal): Promise<void> {
  const parameters = ["--single-transaction", "--no-owner", "--dbname="];
  const { child, ended } = await startTool("pg_restore", databaseUrl, parameters);
  try {
    await pipeline(copy, child.stdin as Writable, { signal }).catch(async (failure) => {
      if (failure.code === "EPIPE") await ended; // which throws the tool's error message
      throw failure;
    });
    await ended;
  } finally {
    child.kill();
  }
}

/** The connection settings are passed in the environment: process lists show command lines to other users. */
async function startTool(tool: string, databaseUrl: string, parameters: string[]) {
  const { writableAddress } = await import("@/lib/db/postgres");
  const address = new URL(await writableAddress(databaseUrl));
  const { hostname, port, username, password, pathname, searchParams } = address;
  const given = {
    PGHOST: searchParams.get("host") ?? hostname,
    PGPORT: port,
    PGUSER: decodeURIComponent(username),
    PGPASSWORD: decodeURIComponent(password),
    PGDATABASE: decodeURIComponent(pathname.slice(1)),
    PGSSLMODE: searchParams.get("sslmode") ?? "",
  };
  const named = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ""));
  const child = spawn(tool, parameters, { env: { ...process.env, ...named } });
  const ended = waitForExit(child, tool);
  ended.catch(() => {}); // if the caller aborted it, the result does not matter
  return { child, ended };
}

/** Waits for the tool. If it fails, throws the first line of its error output. */
function waitForExit(child: ChildProcess, tool: string): Promise<void> {
  let errorOutput = "";
  child.stderr?.setEncoding("utf8").on("data", (chunk) => {
    errorOutput += chunk;
  });
  return new Promise((resolve, reject) => {
    child.once("error", () =>
      reject(new Error(`${tool} is not installed: it comes with PostgreSQL's own client`)),
    );
    child.once("close", (code) =>
      code === 0 ? resolve() : reject(new Error(`${tool}: ${errorOutput.trim().split("\n")[0]}`)),
    );
  });
}
