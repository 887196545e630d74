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

const secretName = "app-secret";
const draftPrefix = `${secretName}.draft.`;

/** Whether a text has the form of the secret that the data folder has; another one counts as damaged. */
export function isGeneratedSecret(text: string): boolean {
  return /^[\w-]{43}$/.test(text);
}

/**
 * Reads the secret of the data folder, and creates it the first time. Once returned, it survives a power loss.
 *
 * The folder gets mode 0700, the file 0600. Concurrent processes get the same secret: `link` creates the complete file or
 * fails, so no one reads a partial one. Throws a {@link DataDirError}.
 */
export function readOrCreateSecret(dataDir: string, generate: () => string): string {
  const file = join(dataDir, secretName);
  let text: string;
  try {
    if (!existsSync(file)) createSecret(dataDir, file, generate);
    text = readFileSync(file, "utf8");
    removeLeft(dataDir, (name) => name.startsWith(draftPrefix));
  } catch (failure) {
    throw toDataDirError(dataDir, failure);
  }
  if (isGeneratedSecret(text)) return text;
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

/** What network shares and mounted buckets answer, which have no hard links or no locks. */
export const codesOfShares = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "ENOLCK"]);

export function toDataDirError(path: string, failure: unknown): DataDirError {
  if (failure instanceof DataDirError) return failure;
  const { code = "" } = failure as NodeJS.ErrnoException;
  const hint = codesOfShares.has(code)
    ? ": it has to be on a disk of this machine, and not on a network share or in a bucket"
    : "";
  return new DataDirError(`DATA_DIR: ${path} cannot be used (${code})${hint}`, code);
}

/** Flushes a draft to disk before it gets the name that others read. */
function createSecret(dataDir: string, file: string, generate: () => string): void {
  createFolder(dataDir);
  const draft = join(dataDir, `${draftPrefix}${process.pid}`);
  try {
    writeFileSync(draft, generate(), { mode: 0o600, flush: true });
    linkSync(draft, file);
  } catch (failure) {
    // Another process was first: it removes the drafts of the others, possibly before they are linked.
    if (!existsSync(file)) throw failure;
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
