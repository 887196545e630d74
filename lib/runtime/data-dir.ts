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

/** The data folder cannot be used; `message` is one line for the operator. */
export class DataDirError extends Error {
  constructor(
    message: string,
    /** The operating system's error code, such as `ENOSPC`. */
    readonly code?: string,
  ) {
    super(message);
  }
}

/** How to create a file's text, and whether a text is valid; an invalid one counts as damaged. */
type FileContent = { generate: () => string; isValid: (text: string) => boolean };

/**
 * Reads a file of the data folder, and creates it the first time. Once returned, the text survives a power loss.
 *
 * The folder gets mode 0700, the file 0600. Concurrent processes get the same text: `link` creates the complete file or
 * fails, so no one reads a partial one. Throws a {@link DataDirError}.
 */
export function readOrCreateInDataDir(
  dataDir: string,
  name: string,
  { generate, isValid }: FileContent,
): string {
  const file = join(dataDir, name);
  let text: string | undefined;
  try {
    text = readIfExists(file);
    if (text === undefined) {
      createFile(dataDir, name, generate);
      text = readFileSync(file, "utf8");
    }
    removeLeft(dataDir, (entry) => entry.startsWith(draftPrefix(name)));
  } catch (failure) {
    throw toDataDirError(dataDir, failure);
  }
  if (isValid(text)) return text;
  throw new DataDirError(
    `DATA_DIR: ${file} is damaged (${text.length} characters): restore it from a backup, or delete it; a new one invalidates everything signed with it`,
  );
}

/**
 * Creates a folder and its parents with mode 0700. Throws a {@link DataDirError}. Node's recursive `mkdir` would loop
 * forever where a folder can be neither created nor found, as under `/proc`.
 */
export function createFolder(path: string): void {
  const missing = [path];
  for (let above = dirname(path); !existsSync(above); above = dirname(above)) missing.unshift(above);
  for (const folder of missing) {
    try {
      mkdirSync(folder, { mode: 0o700 });
    } catch (failure) {
      const isFolder = (failure as NodeJS.ErrnoException).code === "EEXIST" && statSync(folder).isDirectory();
      if (!isFolder) throw toDataDirError(path, failure);
    }
  }
}

function toDataDirError(path: string, failure: unknown): DataDirError {
  if (failure instanceof DataDirError) return failure;
  const { code } = failure as NodeJS.ErrnoException;
  return new DataDirError(`DATA_DIR: ${path} cannot be used (${code})`, code);
}

function readIfExists(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (failure) {
    if ((failure as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw failure;
  }
}

/** Flushes a draft to disk before it gets the name that others read. */
function createFile(dataDir: string, name: string, generate: () => string): void {
  createFolder(dataDir);
  const draft = join(dataDir, `${draftPrefix(name)}${process.pid}`);
  try {
    writeFileSync(draft, generate(), { mode: 0o600, flush: true });
    linkSync(draft, join(dataDir, name));
  } catch (failure) {
    // The first process removes the drafts of the others, possibly before they are linked.
    const isCreatedByAnother = readIfExists(join(dataDir, name)) !== undefined;
    if (!isCreatedByAnother) throw failure;
  } finally {
    rmSync(draft, { force: true });
  }
  flushFolder(dataDir);
}

/** A file's name is durable only after its folder has been flushed. */
function flushFolder(dataDir: string): void {
  const folder = openSync(dataDir, "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

/** Removes what killed processes left in a folder, by its name. */
export function removeLeft(folder: string, isLeft: (name: string) => boolean): void {
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder).filter(isLeft)) {
    rmSync(join(folder, name), { recursive: true, force: true });
  }
}

const draftPrefix = (name: string) => `${name}.draft.`;
