import { existsSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import Database from "libsql";
import { createFolder, requireCreator } from "@/lib/runtime/data-dir";

const nativeWaitMs = 25; // how long one native call may hold up the event loop
const retryAfterMs = 10;

/** A connection to the file, and which file that is: see {@link SqliteFile.identify}. */
export type OpenFile = { db: Database.Database; identity: string };

/** The file of a store that other processes write to as well. */
export class SqliteFile {
  private hasBeenOpen = false;

  constructor(private readonly path: string) {}

  /** Opens a connection; makes the file where there is none. Waits for other processes until `giveUpAtMs`, then throws. */
  async open(giveUpAtMs: number): Promise<OpenFile> {
    // Only where there is none: to open and close a database's file ends this process's locks on it.
    if (!existsSync(this.path)) this.make();
    const db = new Database(this.path, { timeout: nativeWaitMs } as Database.Options);
    try {
      await whileLocked(giveUpAtMs, () => db.exec("PRAGMA journal_mode = WAL"));
      db.exec("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA secure_delete = ON");
      this.hasBeenOpen = true;
      return { db, identity: this.identify() };
    } catch (error) {
      db.close();
      throw error;
    }
  }

  /**
   * Which files are at the path now: SQLite writes to the second, until it moves that into the first. They are others
   * than those of an open connection when they were removed or replaced since.
   */
  identify(): string {
    return [this.path, `${this.path}-wal`]
      .map((path) => {
        const { dev, ino } = statSync(/* turbopackIgnore: true */ path, { throwIfNoEntry: false }) ?? {};
        return `${dev}:${ino}`;
      })
      .join(" ");
  }

  /** An empty store in the place of one that was taken away would look as if nobody had ever had an account. */
  private make(): void {
    if (this.hasBeenOpen) throw new Error("the store's file was removed while it was open");
    requireCreator(this.path);
    createFolder(dirname(this.path));
    writeFileSync(this.path, "", { flag: "a", mode: 0o600 });
  }
}

/**
 * Tries until another process lets go of its lock, in short calls: one that waits inside SQLite would hold up the event
 * loop. Throws what was met last once `giveUpAtMs` of the monotonic clock has passed.
 */
export async function whileLocked(giveUpAtMs: number, attempt: () => void): Promise<void> {
  for (;;) {
    try {
      return attempt();
    } catch (error) {
      if (!isBusy(error) || performance.now() > giveUpAtMs) throw error;
      await sleep(retryAfterMs);
    }
  }
}

const inUse =
  "the deletion is done, but something reads from the store's log of changes, a backup perhaps: what was deleted stays in the log until the server empties it, within the hour";

/**
 * Writes the log of changes into the file and empties it, so that neither has what was deleted. Throws where another
 * process goes on reading from the log until `giveUpAtMs`.
 */
export async function forgetDeleted(path: string, giveUpAtMs: number): Promise<void> {
  const db = new Database(path, { timeout: nativeWaitMs } as Database.Options);
  try {
    await whileLocked(giveUpAtMs, () => {
      const { busy } = db.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get([]) as { busy: number };
      if (busy) throw Object.assign(new Error(inUse), { code: "SQLITE_BUSY" });
    });
  } finally {
    db.close();
  }
}

function isBusy(error: unknown): boolean {
  return String((error as { code?: unknown }).code).startsWith("SQLITE_BUSY");
}
