import { createCipheriv, createDecipheriv, randomBytes, scrypt } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { open, rename, rm, stat } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { createGunzip, createGzip } from "node:zlib";
import { ApiError } from "@/lib/api/errors";

/*
 * A backup as a file: a note of what it is and the store's own copy, each AES-256-GCM (NIST SP 800-38D) under a key made
 * from the passphrase by scrypt (RFC 7914).
 *
 *     magic, salt, length of the note | nonce, note, tag | nonce, gzipped copy, tag
 */
const magic = Buffer.from("corner-office-backup:1\n");
const saltBytes = 16;
const nonceBytes = 12;
const tagBytes = 16;
const headBytes = magic.length + saltBytes + 4;

/** Writes a backup of a note and the file at `copy`. It is there whole, 0600, or not at all. */
export async function writeArchive(
  file: string,
  passphrase: string,
  note: object,
  copy: string,
): Promise<void> {
  const salt = randomBytes(saltBytes);
  const key = await deriveKey(passphrase, salt);
  const sealedNote = sealNote(key, JSON.stringify(note));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(sealedNote.length);
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv("aes-256-gcm", key, nonce);
  const draft = `${file}.draft`;
  try {
    const out = createWriteStream(draft, { mode: 0o600, flags: "wx", flush: true });
    await pipeline(async function* () {
      yield Buffer.concat([magic, salt, length, sealedNote, nonce]);
      yield* createReadStream(copy).pipe(createGzip()).pipe(cipher);
      yield cipher.getAuthTag();
    }, out);
    await rename(draft, file);
  } catch (failure) {
    await rm(draft, { force: true });
    throw failure;
  }
}

/** A backup that its passphrase has opened. */
export type Archive = {
  note: unknown;
  /** Writes its copy of the store to a file; what is not whole to the byte throws an {@link ApiError}. */
  extractCopy: (to: string) => Promise<void>;
};

/** Opens a backup. Throws an {@link ApiError} when the file is none, or the passphrase another. */
export async function openArchive(file: string, passphrase: string): Promise<Archive> {
  const head = await readBytes(file, 0, headBytes).catch(() => Buffer.alloc(0));
  if (!head.subarray(0, magic.length).equals(magic)) {
    throw new ApiError("invalid_request", {
      message: `${file} is no backup.`,
      hint: "Give a file that 'backup' wrote.",
    });
  }
  const start = headBytes + head.readUInt32BE(headBytes - 4);
  const { size } = await stat(file);
  if (start + nonceBytes + tagBytes > size) throw damaged();
  const sealedNote = await readBytes(file, headBytes, start - headBytes);
  const key = await deriveKey(passphrase, head.subarray(magic.length, magic.length + saltBytes));
  const note = JSON.parse(openNote(key, sealedNote));
  return { note, extractCopy: (to) => extractCopy({ file, key, start, size }, to) };
}

type Sealed = { file: string; key: Buffer; start: number; size: number };

async function extractCopy({ file, key, start, size }: Sealed, to: string): Promise<void> {
  const nonce = await readBytes(file, start, nonceBytes);
  const tag = await readBytes(file, size - tagBytes, tagBytes);
  const decipher = createDecipheriv("aes-256-gcm", key, nonce).setAuthTag(tag);
  try {
    const sealed = createReadStream(file, { start: start + nonceBytes, end: size - tagBytes - 1 });
    await pipeline(sealed, decipher, createGunzip(), createWriteStream(to, { mode: 0o600, flush: true }));
  } catch {
    await rm(to, { force: true });
    throw damaged();
  }
}

async function readBytes(file: string, from: number, count: number): Promise<Buffer> {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(count), 0, count, from);
    if (bytesRead < count) throw damaged();
    return buffer;
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
    message: "The backup does not open: the passphrase is another, or the file is damaged.",
    hint: "Set BACKUP_PASSPHRASE to what it was made with.",
  });
}
