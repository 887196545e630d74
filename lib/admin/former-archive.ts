import { createDecipheriv, scrypt } from "node:crypto";
import { createReadStream } from "node:fs";
import { open, stat } from "node:fs/promises";
import { Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";

/*
 * Backups of builds before November 2026 have a format of their own: metadata (the note) and a copy of the store, each
 * encrypted with AES-256-GCM (NIST SP 800-38D) under a key derived from the passphrase by scrypt (RFC 7914).
 *
 *     magic, salt, length of the note | nonce, note, tag | nonce, gzipped copy, tag
 */
export const formerMagic = "corner-office-backup:1\n";
const saltBytes = 16;
const nonceBytes = 12;
const tagBytes = 16;
const headBytes = formerMagic.length + saltBytes + 4;

/** Opens such a backup. Throws if the passphrase is wrong or the file is damaged; so does reading its copy. */
export async function openFormerArchive(file: string, passphrase: string) {
  const head = await readBytes(file, 0, headBytes);
  const start = headBytes + head.readUInt32BE(headBytes - 4);
  const { size } = await stat(file);
  const sealedNote = await readBytes(file, headBytes, start - headBytes);
  const cost = { N: 2 ** 17, r: 8, p: 1, maxmem: 2 ** 28 }; // 128 MiB, half a second
  const derive = promisify<string, Buffer, number, object, Buffer>(scrypt);
  const key = await derive(passphrase, head.subarray(formerMagic.length, -4), 32, cost);
  return { note: openNote(key, sealedNote), gzipped: readCopy({ file, key, start, size }) };
}

type Sealed = { file: string; key: Buffer; start: number; size: number };

/** Reads the file twice: the data is authentic only once the tag at the end has been verified. */
async function* readCopy(sealed: Sealed): AsyncGenerator<Buffer> {
  const ignore = new Writable({ write: (_chunk, _encoding, done) => done() });
  await pipeline(...(await decipher(sealed)), ignore);
  const [file, decipherer] = await decipher(sealed);
  yield* file.pipe(decipherer);
}

async function decipher({ file, key, start, size }: Sealed) {
  const nonce = await readBytes(file, start, nonceBytes);
  const tag = await readBytes(file, size - tagBytes, tagBytes);
  const sealed = createReadStream(file, { start: start + nonceBytes, end: size - tagBytes - 1 });
  return [sealed, createDecipheriv("aes-256-gcm", key, nonce).setAuthTag(tag)] as const;
}

async function readBytes(file: string, from: number, count: number): Promise<Buffer> {
  const handle = await open(file);
  try {
    return (await handle.read(Buffer.alloc(count), 0, count, from)).buffer;
  } finally {
    await handle.close();
  }
}

function openNote(key: Buffer, sealed: Buffer): unknown {
  const decipher = createDecipheriv("aes-256-gcm", key, sealed.subarray(0, nonceBytes));
  decipher.setAuthTag(sealed.subarray(-tagBytes));
  const note = decipher.update(sealed.subarray(nonceBytes, -tagBytes), undefined, "utf8");
  return JSON.parse(note + decipher.final("utf8"));
}
