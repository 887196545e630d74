import { createReadStream } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { pipeline as pipelineOf, Readable, type Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { ReadableStream as NodeStream } from "node:stream/web";
import { createGunzip, createGzip } from "node:zlib";
import { ApiError } from "@/lib/http/errors";

/*
 * A backup is an age file with a passphrase (https://age-encryption.org/v1), which `age -d` opens too: a line of JSON
 * (the note), and after it the gzipped copy of the store.
 */
const newline = 0x0a;
const magic = "age-encryption.org/v1\n";
const workFactor = 17; // log2 of scrypt's cost: 128 MiB, a second

/** Writes a backup file (mode 0600) of a note and a copy of the store, completely or not at all. */
export async function writeArchive(
  file: string,
  passphrase: string,
  { note, copy, signal }: { note: object; copy: AsyncIterable<Buffer>; signal: AbortSignal },
): Promise<void> {
  const { Encrypter } = await import("age-encryption");
  const encrypter = new Encrypter();
  encrypter.setPassphrase(passphrase);
  encrypter.setScryptWorkFactor(workFactor);
  const plain = async function* () {
    yield Buffer.from(`${JSON.stringify(note)}\n`);
    yield* chain(Readable.from(copy), createGzip());
  };
  const draft = `${file}.draft`;
  await rm(draft, { force: true }); // left by a killed backup
  const out = await open(draft, "wx", 0o600).catch((failure) => {
    throw unusable(file, "written", failure);
  });
  try {
    const sealed = await encrypter.encrypt(toWeb(plain()));
    await pipeline(sealed, out.createWriteStream({ flush: true }), { signal });
    await rename(draft, file);
  } catch (failure) {
    await rm(draft, { force: true });
    throw failure;
  }
}

/**
 * Opens a backup: its note, and the copy of the store, which can be read once. Each part of the copy is authentic; if the
 * file is not complete, reading it throws an {@link ApiError} at the end of what is. Throws an ApiError if the file is not
 * a backup, or the passphrase is wrong.
 */
export async function openArchive(file: string, passphrase: string) {
  const start = await readStart(file);
  if (!start.startsWith(magic)) {
    throw new ApiError("invalid_request", {
      message: `${file} is not a backup.`,
      hint: "Pass a file that 'backup' wrote.",
    });
  }
  try {
    const { note, gzipped } = await openAge(file, passphrase);
    return { note, readCopy: () => chain(Readable.from(orDamaged(gzipped)), createGunzip()) };
  } catch {
    throw damaged();
  }
}

async function openAge(file: string, passphrase: string) {
  const { Decrypter } = await import("age-encryption");
  const decrypter = new Decrypter();
  decrypter.addPassphrase(passphrase);
  const plain = (await decrypter.decrypt(toWeb(createReadStream(file)))).values();
  const { value: first = Buffer.alloc(0) } = await plain.next();
  const end = first.indexOf(newline);
  const gzipped = async function* () {
    yield first.subarray(end + 1);
    yield* plain;
  };
  return { note: JSON.parse(Buffer.from(first.subarray(0, end)).toString()), gzipped: gzipped() };
}

/** Node's streams of this kind are those that the library takes, declared apart from them. */
function toWeb(chunks: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  return NodeStream.from(chunks) as unknown as ReadableStream<Uint8Array>;
}

async function* orDamaged(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* chunks;
  } catch {
    throw damaged();
  }
}

/** The output of the last of these streams; reading it throws the error of any of them. */
function chain(...streams: [Readable, Transform]): AsyncIterable<Buffer> {
  return pipelineOf(streams, () => {}) as unknown as Readable;
}

async function readStart(file: string): Promise<string> {
  try {
    await using handle = await open(file);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(magic.length * 2));
    return buffer.toString("latin1", 0, bytesRead);
  } catch (failure) {
    throw unusable(file, "read", failure);
  }
}

function unusable(file: string, how: "read" | "written", failure: unknown): ApiError {
  return new ApiError("invalid_request", {
    message: `${file} cannot be ${how} (${(failure as NodeJS.ErrnoException).code}).`,
    hint: "Compare its path and its owner with the user of this command; in a container both are the container's.",
  });
}

function damaged(): ApiError {
  return new ApiError("invalid_request", {
    message: "The backup cannot be opened: the passphrase is wrong, or the file is damaged.",
    hint: "Set BACKUP_PASSPHRASE to the passphrase of the backup.",
  });
}
