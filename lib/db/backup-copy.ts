import { spawn } from "node:child_process";
import { createWriteStream, existsSync, linkSync, mkdtempDisposableSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { sql } from "kysely";
import { toTlsVariables } from "@/lib/db/postgres/tls";
import { lockedError, retryWhileLocked } from "@/lib/db/sqlite/file";
import type { Db } from "@/lib/db/store";
import { tableNames } from "@/lib/db/tables";
import { removeLeft } from "@/lib/runtime/data-dir";

const writtenWithinMs = 60_000; // a minute, for another backup

/**
 * Where a store is: a pooler is passed by, because the tools' settings of their session, such as an empty `search_path`,
 * would stay on its connections for the next user.
 */
type StoreLocation = { dataDir: string; databaseDirectUrl: string | undefined };

const tools = ["pg_dump", "pg_restore", "psql"] as const;

export const toolRemedy =
  "Install PostgreSQL's client of the server's major or newer, for example Debian's postgresql-client-17.";

/**
 * Streams a consistent snapshot of the store while others write to it. It is encrypted as it is read, and never stored
 * in the clear. PostgreSQL needs `pg_dump`.
 */
export async function* readStore({
  dataDir,
  databaseDirectUrl: databaseUrl,
}: StoreLocation): AsyncGenerator<Buffer> {
  if (!databaseUrl) return yield* readFile(join(dataDir, "store.sqlite"));
  using folder = mkdtempDisposableSync(join(tmpdir(), "office-"));
  const ours = (await findSchemas(databaseUrl)).map((schema) => `--schema="${schema.replaceAll('"', '""')}"`);
  const parameters = ["--format=custom", "--no-owner", "--no-comments", ...ours];
  yield* outputOf(startTool("pg_dump", parameters, await toEnvironment(databaseUrl, folder.path)));
}

/** The schemas that our tables are in. A provider may have others in the database, with what we can neither read nor restore. */
async function findSchemas(databaseUrl: string): Promise<string[]> {
  const rows = await ask(
    databaseUrl,
    `SELECT DISTINCT nspname AS schema FROM unnest($1::text[]) AS ours
       JOIN pg_class ON pg_class.oid = to_regclass(ours) JOIN pg_namespace ON pg_namespace.oid = relnamespace`,
    [tableNames],
  );
  return rows.map(({ schema }) => schema);
}

async function ask(
  databaseUrl: string,
  query: string,
  parameters?: unknown[],
): Promise<{ schema: string }[]> {
  const { openUnlimitedPool } = await import("@/lib/db/postgres/hosts");
  const pool = await openUnlimitedPool(databaseUrl);
  try {
    return (await pool.query(query, parameters)).rows;
  } finally {
    await pool.end();
  }
}

/**
 * The file of a SQLite database, once all that a reader of this instant sees is in it: until that reader ends, no one
 * writes to the file, only to its log (https://sqlite.org/wal.html#concurrency).
 */
async function* readFile(path: string): AsyncGenerator<Buffer> {
  using reader = new DatabaseSync(path);
  using other = new DatabaseSync(path);
  await retryWhileLocked(performance.now() + writtenWithinMs, () => {
    reader.exec("BEGIN; SELECT 1 FROM sqlite_schema");
    const written = other.prepare("PRAGMA wal_checkpoint(PASSIVE)").get() as Record<string, number>;
    if (!written.busy && written.log === written.checkpointed) return;
    reader.exec("ROLLBACK");
    throw lockedError("something else reads from the store's log of changes, another backup perhaps");
  });
  const sizes = "SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size";
  const { bytes } = reader.prepare(sizes).get() as { bytes: number };
  // In another process: closing the file would release this process's locks on it.
  const program = "fs.createReadStream(process.argv[1], { end: process.argv[2] - 1 }).pipe(process.stdout)";
  yield* outputOf(startTool(process.execPath, ["-e", program, path, String(bytes)]));
}

async function* outputOf({ child, ended }: Tool): AsyncGenerator<Buffer> {
  try {
    yield* child.stdout;
    await ended;
  } finally {
    child.kill();
  }
}

/** Whether there is no store yet at this location. */
export async function isEmptyLocation({
  dataDir,
  databaseDirectUrl: databaseUrl,
}: StoreLocation): Promise<boolean> {
  if (!databaseUrl) return !existsSync(join(dataDir, "store.sqlite"));
  const rows = await ask(
    databaseUrl,
    "SELECT schemaname AS schema FROM pg_tables WHERE schemaname = current_schema() LIMIT 1",
  );
  return rows.length === 0;
}

/** Creates a store from a snapshot, completely or not at all, at an empty location. PostgreSQL needs `pg_restore` and `psql`. */
export async function writeStore(
  { dataDir, databaseDirectUrl: databaseUrl }: StoreLocation,
  copy: AsyncIterable<Buffer>,
  signal: AbortSignal,
): Promise<void> {
  if (databaseUrl) return load(databaseUrl, copy, signal);
  const folder = mkdtempSync(join(dataDir, "copy-"));
  try {
    const draft = join(folder, "store");
    await pipeline(copy, createWriteStream(draft, { mode: 0o600, flush: true }), { signal });
    linkSync(draft, join(dataDir, "store.sqlite")); // fails if a store exists by now
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Removes unencrypted copies left by a killed restore. */
export function sweepDrafts(dataDir: string): void {
  removeLeft(dataDir, (name) => /^copy-\w{6}$/.test(name));
}

async function load(databaseUrl: string, copy: AsyncIterable<Buffer>, signal: AbortSignal): Promise<void> {
  using folder = mkdtempDisposableSync(join(tmpdir(), "office-"));
  const environment = await toEnvironment(databaseUrl, folder.path);
  // The roles that had rights, a provider's own for example, may not be here. Default privileges give what others need.
  const reader = startTool("pg_restore", ["--no-owner", "--no-privileges", "--file=-"], environment);
  const writer = startTool(
    "psql",
    ["--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", "--output=/dev/null"],
    environment,
  );
  try {
    const given = feed(reader, copy, signal);
    const script = inTransaction(reader, given);
    const written = pipeline(script, writer.child.stdin, { signal }).catch(async (failure) => {
      if (failure.code === "EPIPE") await writer.ended; // which throws the tool's error message
      throw failure;
    });
    await Promise.all([given, written]);
    await writer.ended;
  } finally {
    reader.child.kill();
    writer.child.kill();
  }
}

/** Gives a tool a copy, and reads it to its end, by which it is verified: the tool may have had enough before. */
async function feed({ child }: Tool, copy: AsyncIterable<Buffer>, signal: AbortSignal): Promise<void> {
  const { stdin } = child;
  stdin.on("error", () => {}); // its exit code says why
  for await (const chunk of copy) {
    signal.throwIfAborted();
    if (child.exitCode || child.signalCode) return;
    if (stdin.destroyed || stdin.write(chunk)) continue;
    await new Promise<void>((resolve) => {
      stdin.once("drain", resolve).once("close", resolve);
    });
  }
  stdin.end();
}

/** The script of pg_restore, which is committed only if it and what it was given came to their ends. */
async function* inTransaction(reader: Tool, given: Promise<void>): AsyncGenerator<Buffer | string> {
  yield "BEGIN;\n";
  let head: string | undefined = "";
  for await (const chunk of outputOf(reader)) {
    if (head === undefined) {
      yield chunk;
      continue;
    }
    head += chunk.toString("latin1");
    if (head.length < headLength) continue;
    yield Buffer.from(fitHead(head), "latin1");
    head = undefined;
  }
  if (head) yield Buffer.from(fitHead(head), "latin1");
  await given;
  yield "COMMIT;\n";
}

const headLength = 4096;

/**
 * pg_restore sets what its own major has, which an older server refuses: it is set where there is such a setting. And it
 * makes a schema, which may be there already, and then the role may not be allowed to make any.
 */
const fitHead = (head: string) =>
  head
    .replace(
      /^SET (\w+_timeout) = 0;$/gm,
      "SELECT set_config(name, '0', false) FROM pg_settings WHERE name = '$1';",
    )
    .replace(
      /^CREATE SCHEMA (.+);$/gm,
      (make, name: string) =>
        `DO $make$ BEGIN IF to_regnamespace('${name.replaceAll("'", "''")}') IS NULL THEN ${make} END IF; END $make$;`,
    );

/** The connection settings are passed in the environment: process lists show command lines to other users. */
async function toEnvironment(databaseUrl: string, folder: string): Promise<Record<string, string>> {
  const { writableAddress } = await import("@/lib/db/postgres/hosts");
  const address = new URL(await writableAddress(databaseUrl));
  const { hostname, port, username, password, pathname, searchParams } = address;
  const given = {
    PGHOST: searchParams.get("host") ?? hostname.replace(/^\[(.*)\]$/, "$1"),
    PGPORT: port,
    PGUSER: decodeURIComponent(username),
    PGPASSWORD: decodeURIComponent(password),
    PGDATABASE: decodeURIComponent(pathname.slice(1)),
    PGOPTIONS: searchParams.get("options") ?? "",
    PGCHANNELBINDING: searchParams.get("channel_binding") ?? "",
    ...toTlsVariables(searchParams, folder),
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ""));
}

/**
 * What keeps this machine from backing up this PostgreSQL: a tool that is not installed, or one of an older major, which
 * refuses the server. Undefined if nothing does.
 */
export async function findToolFault(db: Db): Promise<string | undefined> {
  const { rows } = await sql<{ major: number }>`
    SELECT current_setting('server_version_num')::int / 10000 AS major`.execute(db);
  const server = Number(rows[0]?.major);
  for (const tool of tools) {
    // Debian's takes the newest that is installed where a host is given.
    const { child, ended } = startTool(tool, ["--version"], { PGHOST: "localhost" });
    try {
      const said = await text(child.stdout);
      await ended;
      const major = Number(/\) (\d+)/.exec(said)?.[1]);
      if (major < server) return `${tool} is of PostgreSQL ${major}, and the server of ${server}`;
    } catch (failure) {
      return (failure as Error).message;
    }
  }
  return undefined;
}

type Tool = ReturnType<typeof startTool>;

function startTool(tool: string, parameters: string[], environment: Record<string, string> = {}) {
  const child = spawn(tool, parameters, { env: { ...process.env, ...environment } });
  let errorOutput = "";
  // There is none if this process may open no more files.
  child.stderr?.setEncoding("utf8").on("data", (chunk) => {
    errorOutput += chunk;
  });
  const ended = new Promise<void>((resolve, reject) => {
    child.once("error", () =>
      reject(new Error(`${tool} is not installed: it comes with PostgreSQL's own client`)),
    );
    child.once("close", (code) =>
      code === 0 ? resolve() : reject(new Error(`${tool}: ${errorOutput.trim().split("\n")[0]}`)),
    );
  });
  ended.catch(() => {}); // if the caller aborted it, the result does not matter
  return { child, ended };
}
