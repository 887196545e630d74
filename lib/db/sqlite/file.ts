import {
  accessSync,
  constants,
  existsSync,
  linkSync,
  mkdtempSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { codesOfShares, createFolder, toDataDirError } from "@/lib/runtime/data-dir";

const retryDelayMs = 10;
const maxLogBytes = 16 * 1024 * 1024; // of the write-ahead log, once no reader needs what is beyond
const maxStatements = 500; // that a connection keeps: lists of every length are statements of their own

/** A store's file, which other processes also write to. */
export class SqliteFile {
  private hasBeenOpen = false;

  constructor(private readonly path: string) {}

  /** Opens a connection, and creates a missing file. Waits for other processes until `deadlineMs`, then throws. */
  async open(deadlineMs: number): Promise<OpenFile> {
    // Only if the file is missing: opening and closing a database's file releases this process's locks on it.
    if (!existsSync(this.path)) this.create();
    this.rejectEmptied();
    rejectReadOnlyMount(this.path);
    const db = new DatabaseSync(this.path);
    try {
      await retryWhileLocked(deadlineMs, () => db.exec("PRAGMA journal_mode = WAL"));
      db.exec("PRAGMA synchronous = FULL; PRAGMA secure_delete = ON");
      db.exec(`PRAGMA journal_size_limit = ${maxLogBytes}`);
      this.hasBeenOpen = true;
      return new OpenFile(db, this.identify());
    } catch (error) {
      db.close();
      throw error;
    }
  }

  /** Which database and write-ahead log are at the path now: others than a connection's, if they were replaced. */
  identify(): string {
    return [this.path, `${this.path}-wal`]
      .map((path) => {
        const { dev, ino } = statSync(/* turbopackIgnore: true */ path, { throwIfNoEntry: false }) ?? {};
        return `${dev}:${ino}`;
      })
      .join(" ");
  }

  /** A store that lost its content, in a repair of its disk say, is not begun anew. */
  private rejectEmptied(): void {
    if (statSync(this.path).size > 0) return;
    throw new Error(`${this.path} is empty: restore a backup in its place, or delete it to begin anew`);
  }

  /**
   * Never recreates a removed store: an empty one would look as if no account had ever existed. The file gets its name once
   * it has its header, so it is never seen without content.
   */
  private create(): void {
    if (this.hasBeenOpen) throw new Error("the store's file was removed while it was open");
    const folder = dirname(this.path);
    createFolder(folder);
    const drafts = mkdtempSync(join(folder, "copy-"));
    const draft = join(drafts, "store");
    try {
      writeFileSync(draft, "", { mode: 0o600 });
      const db = new DatabaseSync(draft);
      db.exec("PRAGMA journal_mode = WAL");
      db.close();
      linkSync(draft, this.path);
    } catch (failure) {
      // Another process was first.
      if (existsSync(this.path)) return;
      // No other process knows the draft, so it is the file system that refuses its lock.
      const { code = "" } =
        resultCode(failure) === busy ? { code: "ENOLCK" } : (failure as NodeJS.ErrnoException);
      throw codesOfShares.has(code) ? toDataDirError(folder, { code }) : failure;
    } finally {
      rmSync(drafts, { recursive: true, force: true });
    }
  }
}

type Row = Record<string, unknown>;

/** A connection that prepares each statement once. It waits for no lock: a call that meets one throws at once. */
export class OpenFile {
  private readonly statements = new Map<string, { statement: StatementSync; columns: string[] }>();

  /** @param identity - of the file that it opened: see {@link SqliteFile.identify} */
  constructor(
    readonly db: DatabaseSync,
    readonly identity: string,
  ) {}

  /** Executes a statement; returns its rows, or the number of rows that it changed if it returns none. */
  execute(sql: string, parameters: readonly unknown[]): { rows: Row[]; numAffectedRows?: bigint } {
    const { statement, columns } = this.prepare(sql);
    const values = parameters as SQLInputValue[];
    if (columns.length === 0) return { rows: [], numAffectedRows: BigInt(statement.run(...values).changes) };
    // Node's own objects take a third longer, and three times as long to be read.
    const rows = statement.all(...values) as unknown as unknown[][];
    return { rows: rows.map((row) => toObject(columns, row)) };
  }

  private prepare(sql: string) {
    let known = this.statements.get(sql);
    if (!known) {
      const statement = this.db.prepare(sql);
      statement.setReturnArrays(true);
      known = { statement, columns: statement.columns().map(({ name }) => name) };
      if (this.statements.size === maxStatements) this.statements.clear();
      this.statements.set(sql, known);
    }
    return known;
  }
}

function toObject(columns: string[], values: unknown[]): Row {
  const row: Row = {};
  for (let at = 0; at < columns.length; at++) row[columns[at] as string] = values[at];
  return row;
}

/** A connection that opens on a read-only mount stays read-only, and so do all that open next to it. */
function rejectReadOnlyMount(path: string): void {
  try {
    accessSync(path, constants.W_OK);
  } catch (failure) {
    if ((failure as NodeJS.ErrnoException).code === "EROFS") throw failure;
  }
}

/** Retries between calls until another process releases its lock. Throws the last error after `deadlineMs`. */
export async function retryWhileLocked<T>(deadlineMs: number, attempt: () => T): Promise<T> {
  for (;;) {
    try {
      return attempt();
    } catch (error) {
      if (resultCode(error) !== busy || performance.now() >= deadlineMs) throw error;
      await sleep(retryDelayMs);
    }
  }
}

const busy = 5; // SQLITE_BUSY

/** SQLite's primary result code (https://sqlite.org/rescode.html) of a failure; 0 if it is none of SQLite's. */
export function resultCode(failure: unknown): number {
  return ((failure as { errcode?: number }).errcode ?? 0) & 0xff;
}

/** A failure that {@link retryWhileLocked} waits out. */
export function lockedError(message: string): Error {
  return Object.assign(new Error(message), { errcode: busy });
}

const logInUse =
  "the deletion is done, but something reads from the store's log of changes, a backup perhaps: what was deleted stays in the log until the server empties it, within the hour";

/**
 * Writes the write-ahead log into the database file and truncates it, so that neither contains deleted rows. Throws if
 * another process still reads from the log at `deadlineMs`.
 */
export async function purgeDeleted(path: string, deadlineMs: number): Promise<void> {
  using db = new DatabaseSync(path);
  await retryWhileLocked(deadlineMs, () => {
    const { busy } = db.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get() as { busy: number };
    if (busy) throw lockedError(logInUse);
  });
}

/** Empties a write-ahead log that is longer than its bound, unless it is in use: the writes that would do it may not come. */
export async function boundLog(path: string): Promise<void> {
  const { size = 0 } = statSync(`${path}-wal`, { throwIfNoEntry: false }) ?? {};
  if (size <= maxLogBytes) return;
  await purgeDeleted(path, 0).catch((failure) => {
    if (resultCode(failure) !== busy) throw failure;
  });
}
