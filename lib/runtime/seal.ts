import { createCipheriv, createDecipheriv, type KeyObject, randomBytes } from "node:crypto";
import { derivedKeys, type Purpose } from "@/lib/runtime/app-secret";

const nonceBytes = 12;
const tagBytes = 16;

/**
 * Encrypts a text so that only a holder of `APP_SECRET` can read it, and only with the same label: AES-256-GCM (NIST SP
 * 800-38D) under the key of one purpose, in base64url.
 *
 * @param label - identifies the owner of the text, for example a row id; authenticated, not secret, and not in the
 *   result
 */
export function seal(purpose: Purpose, label: string, text: string): string {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv("aes-256-gcm", derivedKeys(purpose)[0], nonce).setAAD(Buffer.from(label));
  const sealed = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString("base64url");
}

/** Decrypts with the current or the previous secret; `undefined` if it is not authentic, or spelled otherwise. */
export function unseal(purpose: Purpose, label: string, sealed: string): string | undefined {
  for (const key of derivedKeys(purpose)) {
    const text = open(key, label, sealed);
    if (text !== undefined) return text;
  }
  return undefined;
}

/** The secret that opens a sealed text: `APP_SECRET`, only `APP_SECRET_PREVIOUS`, or none of ours. */
export type SealedBy = "current" | "previous" | undefined;

/** Which secret sealed the text. */
export function sealedBy(purpose: Purpose, label: string, sealed: string): SealedBy {
  if (open(derivedKeys(purpose)[0], label, sealed) !== undefined) return "current";
  return unseal(purpose, label, sealed) === undefined ? undefined : "previous";
}

function open(key: KeyObject, label: string, sealed: string): string | undefined {
  const bytes = Buffer.from(sealed, "base64url");
  if (bytes.toString("base64url") !== sealed) return undefined;
  const nonce = bytes.subarray(0, nonceBytes);
  const tag = bytes.subarray(nonceBytes, nonceBytes + tagBytes);
  if (tag.length < tagBytes) return undefined;
  const decipher = createDecipheriv("aes-256-gcm", key, nonce).setAAD(Buffer.from(label)).setAuthTag(tag);
  const opened = decipher.update(bytes.subarray(nonceBytes + tagBytes));
  try {
    return Buffer.concat([opened, decipher.final()]).toString("utf8");
  } catch {
    // Sealed with another key, or modified.
    return undefined;
  }
}
