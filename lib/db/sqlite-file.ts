import { accessSync, constants, existsSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import Database from "libsql";
import { createFolder } from "@/lib/runtime/data-dir";

const maxBlockMs = 1; // of the event loop, by one native call that waits: a tenth of the time while a lock is held
const retryDelayMs = 10;
const maxLogBytes = 16 * 1024 * 1024; // of the write-ahead log, once no reader needs what is beyond

/** A connection, and the identity of the file it opened: see {@link SqliteFile.identify}. */
export type OpenFile = { db: Database.Database; identity: string };

/** A store's file, which other processes also write to. */
export class SqliteFile {
  private hasBeenOpen = false;

  constructor(private readonly path: string) {}

  /**
   * Opens a connection, and creates the file if it is missing. Waits for other processes until `deadlineMs` of the
   * monotonic clock, then throws.
   */
  async open(deadlineMs: number): Promise<OpenFile> {
    // Only if the file is missing: opening and closing a database's file releases this process's locks on it.
    if (!existsSync(this.path)) this.create();
    rejectReadOnlyMount(this.path);
    const db = new Database(this.path, { timeout: maxBlockMs } as Database.Options);
    try {
      await retryWhileLocked(deadlineMs, () => db.exec("PRAGMA journal_mode = WAL"));
      db.exec("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA secure_delete = ON");
      db.exec(`PRAGMA journal_size_limit = ${maxLogBytes}`);
      this.hasBeenOpen = true;
      return { db, identity: this.identify() };
    } catch (error) {
      db.close();
      throw error;
    }
  }

  /**
   * Identifies the files at the path now: the database and its write-ahead log. If they were removed or replaced, the
   * result differs from that of an open connection.
   */
  identify(): string {
    return [this.path, `${this.path}-wal`]
      .map((path) => {
        const { dev, ino } = statSync(/* turbopackIgnore: true */ path, { throwIfNoEntry: false }) ?? {};
        return `${dev}:${ino}`;
      })
      .join(" ");
  }

  /** Never recreates a removed store: an empty one would look as if no account had ever existed. */
  private create(): void {
    if (this.hasBeenOpen) throw new Error("the store's file was removed while it was open");
    createFolder(dirname(this.path));
    writeFileSync(this.path, "", { flag: "a", mode: 0o600 });
  }
}

/**
 * Throws if the file is on a read-only mount: a connection that opens there stays read-only when the mount becomes
 * writable, and so do all that this process opens next to it.
 */
function rejectReadOnlyMount(path: string): void {
  try {
    accessSync(path, constants.W_OK);
  } catch (failure) {
    if ((failure as NodeJS.ErrnoException).code === "EROFS") throw failure;
  }
}

/**
 * Retries in short calls until another process releases its lock: waiting inside SQLite would block the event loop.
 * Throws the last error after `deadlineMs` of the monotonic clock.
 */
export async function retryWhileLocked(deadlineMs: number, attempt: () => void): Promise<void> {
  for (;;) {
    try {
      return attempt();
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadlineMs) throw error;
      await sleep(retryDelayMs);
    }
  }
}

const logInUse =
  "the deletion is done, but something reads from the store's log of changes, a backup perhaps: what was deleted stays in the log until the server empties it, within the hour";

/**
 * Writes the write-ahead log into the database file and truncates it, so that neither contains deleted rows. Throws if
 * another process still reads from the log at `deadlineMs`.
 */
export async function forgetDeleted(path: string, deadlineMs: number): Promise<void> {
  const db = new Database(path, { timeout: maxBlockMs } as Database.Options);
  try {
    await retryWhileLocked(deadlineMs, () => {
      const { busy } = db.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get([]) as { busy: number };
      if (busy) throw Object.assign(new Error(logInUse), { code: "SQLITE_BUSY" });
    });
  } finally {
    db.close();
  }
}

/** Empties a write-ahead log that is longer than its bound, unless it is in use: the writes that would do it may not come. */
export async function boundLog(path: string): Promise<void> {
  const { size = 0 } = statSync(`${path}-wal`, { throwIfNoEntry: false }) ?? {};
  if (size <= maxLogBytes) return;
  await forgetDeleted(path, 0).catch((failure) => {
    if (!isBusy(failure)) throw failure;
  });
}

function isBusy(error: unknown): boolean {
  return String((error as { code?: unknown }).code).startsWith("SQLITE_BUSY");
}
