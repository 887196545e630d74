import { createDecipheriv, scrypt } from "node:crypto";
import { readFile } from "node:fs/promises";
import { Readable } from "node:stream";
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

/** Opens such a backup, in memory. Throws if the passphrase is wrong or the file is damaged. */
export async function openFormerArchive(file: string, passphrase: string) {
  const all = await readFile(file);
  const cost = { N: 2 ** 17, r: 8, p: 1, maxmem: 2 ** 28 }; // 128 MiB, half a second
  const derive = promisify<string, Buffer, number, object, Buffer>(scrypt);
  const key = await derive(passphrase, all.subarray(formerMagic.length, headBytes - 4), 32, cost);
  const start = headBytes + all.readUInt32BE(headBytes - 4);
  const note: unknown = JSON.parse(open(key, all.subarray(headBytes, start)).toString());
  return { note, gzipped: Readable.from([open(key, all.subarray(start))]) };
}

function open(key: Buffer, sealed: Buffer): Buffer {
  const decipher = createDecipheriv("aes-256-gcm", key, sealed.subarray(0, nonceBytes));
  decipher.setAuthTag(sealed.subarray(-tagBytes));
  return Buffer.concat([decipher.update(sealed.subarray(nonceBytes, -tagBytes)), decipher.final()]);
}
