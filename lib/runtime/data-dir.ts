import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { processSingleton } from "@/lib/process-singleton";

const making = () => processSingleton("who makes what DATA_DIR keeps", () => ({ isAnothers: false }));

/** Leaves it to the process that started this one to make what `DATA_DIR` keeps: what is gone from there stays gone. */
export function disableCreation(): void {
  making().isAnothers = true;
}

/** Throws a {@link DataDirError} where what is gone from `DATA_DIR` is not for this process to make. */
export function requireCreator(path: string): void {
  if (making().isAnothers) throw new DataDirError(`DATA_DIR: ${path} is gone`);
}

/** What the data folder keeps cannot be used; `message` is one line for the operator. */
export class DataDirError extends Error {
  constructor(
    message: string,
    /** The operating system's, such as `ENOSPC`. */
    readonly code?: string,
  ) {
    super(message);
  }
}

/** How a kept text is made, and what is one: whatever else stands in the file is damage. */
type Kept = { make: () => string; isSound: (text: string) => boolean };

/**
 * The text kept in a file of the data folder, made at first asking and the same ever after, through a power loss too.
 *
 * Folder 0700, file 0600. Processes that ask at the same moment get the same text: `link` creates the
 * finished file or fails, so nobody reads half of one. Throws a {@link DataDirError}.
 */
export function readOrCreateInDataDir(dataDir: string, name: string, { make, isSound }: Kept): string {
  const file = join(dataDir, name);
  let text: string | undefined;
  try {
    text = readIfThere(file);
    if (text === undefined) {
      makeFile(dataDir, name, make);
      text = readFileSync(file, "utf8");
    }
    removeDrafts(dataDir, name);
  } catch (failure) {
    throw cannotBeUsed(dataDir, failure);
  }
  if (isSound(text)) return text;
  throw new DataDirError(
    `DATA_DIR: ${file} is damaged (${text.length} characters): put it back from a backup, or delete it to get a new one, which ends what was signed with it`,
  );
}

/**
 * Makes a folder, 0700, and those above it. Throws a {@link DataDirError}: Node's own recursive `mkdir` goes round for
 * ever where a folder can be neither made nor found, as under `/proc`.
 */
export function createFolder(path: string): void {
  const missing = [path];
  for (let above = dirname(path); !existsSync(above); above = dirname(above)) missing.unshift(above);
  for (const folder of missing) {
    try {
      mkdirSync(folder, { mode: 0o700 });
    } catch (failure) {
      const isThere = (failure as NodeJS.ErrnoException).code === "EEXIST" && statSync(folder).isDirectory();
      if (!isThere) throw cannotBeUsed(path, failure);
    }
  }
}

function cannotBeUsed(path: string, failure: unknown): DataDirError {
  if (failure instanceof DataDirError) return failure;
  const { code } = failure as NodeJS.ErrnoException;
  return new DataDirError(`DATA_DIR: ${path} cannot be used (${code})`, code);
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (failure) {
    if ((failure as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw failure;
  }
}

/** Writes a draft to the disk, and only then gives it the name that others read. */
function makeFile(dataDir: string, name: string, make: () => string): void {
  requireCreator(join(dataDir, name));
  createFolder(dataDir);
  const draft = join(dataDir, `${draftOf(name)}${process.pid}`);
  try {
    writeFileSync(draft, make(), { mode: 0o600, flush: true });
    linkSync(draft, join(dataDir, name));
  } catch (failure) {
    // Whoever was first removes the drafts of the others, perhaps before they are linked.
    const isMadeByAnother = readIfThere(join(dataDir, name)) !== undefined;
    if (!isMadeByAnother) throw failure;
  } finally {
    rmSync(draft, { force: true });
  }
  flushFolder(dataDir);
}

/** A name is on the disk once its folder is. */
function flushFolder(dataDir: string): void {
  const folder = openSync(dataDir, "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

/** Removes what a process left that ended while it wrote. */
function removeDrafts(dataDir: string, name: string): void {
  for (const entry of readdirSync(dataDir)) {
    if (entry.startsWith(draftOf(name))) rmSync(join(dataDir, entry), { force: true });
  }
}

const draftOf = (name: string) => `${name}.draft.`;
