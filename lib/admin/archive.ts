import { createCipheriv, createDecipheriv, randomBytes, scrypt } from "node:crypto";
import { createReadStream } from "node:fs";
import { open, rename, rm, stat } from "node:fs/promises";
import { pipeline as pipelineOf, Readable, type Transform, Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { createGunzip, createGzip } from "node:zlib";
import { ApiError } from "@/lib/http/errors";

/*
 * The file format of a backup: metadata (the note) and a copy of the store, each encrypted with AES-256-GCM
 * (NIST SP 800-38D) under a key derived from the passphrase by scrypt (RFC 7914).
 *
 *     magic, salt, length of the note | nonce, note, tag | nonce, gzipped copy, tag
 */
const magic = Buffer.from("corner-office-backup:1\n");
const saltBytes = 16;
const nonceBytes = 12;
const tagBytes = 16;
const headBytes = magic.length + saltBytes + 4;

/** Writes a backup file (mode 0600) of a note and a copy of the store, completely or not at all. */
export async function writeArchive(
  file: string,
  passphrase: string,
  { note, copy, signal }: { note: object; copy: AsyncIterable<Buffer>; signal: AbortSignal },
): Promise<void> {
  const salt = randomBytes(saltBytes);
  const key = await deriveKey(passphrase, salt);
  const sealedNote = sealNote(key, JSON.stringify(note));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(sealedNote.length);
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv("aes-256-gcm", key, nonce);
  const draft = `${file}.draft`;
  await rm(draft, { force: true }); // left by a killed backup
  try {
    const out = await open(draft, "wx", 0o600);
    const sealed = async function* () {
      yield Buffer.concat([magic, salt, length, sealedNote, nonce]);
      yield* chain(Readable.from(copy), createGzip(), cipher);
      yield cipher.getAuthTag();
    };
    await pipeline(sealed, out.createWriteStream({ flush: true }), { signal });
    await rename(draft, file);
  } catch (failure) {
    await rm(draft, { force: true });
    throw failure;
  }
}

/** A backup opened with its passphrase. */
export type Archive = {
  note: unknown;
  /**
   * The copy of the store. If the file is not complete and authentic, this yields nothing and throws an
   * {@link ApiError}.
   */
  readCopy: () => AsyncIterable<Buffer>;
};

/** Opens a backup. Throws an {@link ApiError} if the file is not a backup, or the passphrase is wrong. */
export async function openArchive(file: string, passphrase: string): Promise<Archive> {
  const head = await readBytes(file, 0, headBytes).catch(() => Buffer.alloc(0));
  if (!head.subarray(0, magic.length).equals(magic)) {
    throw new ApiError("invalid_request", {
      message: `${file} is not a backup.`,
      hint: "Pass a file that 'backup' wrote.",
    });
  }
  const start = headBytes + head.readUInt32BE(headBytes - 4);
  const { size } = await stat(file);
  if (start + nonceBytes + tagBytes > size) throw damaged();
  const sealedNote = await readBytes(file, headBytes, start - headBytes);
  const key = await deriveKey(passphrase, head.subarray(magic.length, magic.length + saltBytes));
  const note = JSON.parse(openNote(key, sealedNote));
  return { note, readCopy: () => readCopy({ file, key, start, size }) };
}

type Sealed = { file: string; key: Buffer; start: number; size: number };

/** Reads the file twice: the data is authentic only once the tag at the end has been verified. */
async function* readCopy(sealed: Sealed): AsyncGenerator<Buffer> {
  const ignore = new Writable({ write: (_chunk, _encoding, done) => done() });
  await pipeline(...(await decipher(sealed)), ignore).catch(() => {
    throw damaged();
  });
  yield* chain(...(await decipher(sealed)), createGunzip());
}

async function decipher({ file, key, start, size }: Sealed) {
  const nonce = await readBytes(file, start, nonceBytes);
  const tag = await readBytes(file, size - tagBytes, tagBytes);
  const sealed = createReadStream(file, { start: start + nonceBytes, end: size - tagBytes - 1 });
  return [sealed, createDecipheriv("aes-256-gcm", key, nonce).setAuthTag(tag)] as const;
}

/** The output of the last of these streams; reading it throws the error of any of them. */
function chain(...streams: [Readable, ...Transform[]]): AsyncIterable<Buffer> {
  return pipelineOf(streams, () => {}) as unknown as Readable;
}

async function readBytes(file: string, from: number, count: number): Promise<Buffer> {
  const handle = await open(file);
  try {
    return (await handle.read(Buffer.alloc(count), 0, count, from)).buffer;
  } finally {
    await handle.close();
  }
}

function sealNote(key: Buffer, note: string): Buffer {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv("aes-256-gcm", key, nonce);
  return Buffer.concat([nonce, cipher.update(note), cipher.final(), cipher.getAuthTag()]);
}

function openNote(key: Buffer, sealed: Buffer): string {
  try {
    const decipher = createDecipheriv("aes-256-gcm", key, sealed.subarray(0, nonceBytes));
    decipher.setAuthTag(sealed.subarray(-tagBytes));
    return (
      decipher.update(sealed.subarray(nonceBytes, -tagBytes), undefined, "utf8") + decipher.final("utf8")
    );
  } catch {
    throw damaged();
  }
}

function deriveKey(passphrase: string, salt: Buffer): Promise<Buffer> {
  const cost = { N: 2 ** 17, r: 8, p: 1, maxmem: 2 ** 28 }; // 128 MiB, half a second
  return promisify<string, Buffer, number, object, Buffer>(scrypt)(passphrase, salt, 32, cost);
}

function damaged(): ApiError {
  return new ApiError("invalid_request", {
    message: "The backup cannot be opened: the passphrase is wrong, or the file is damaged.",
    hint: "Set BACKUP_PASSPHRASE to the passphrase of the backup.",
  });
}
