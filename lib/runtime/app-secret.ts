import { createSecretKey, hkdfSync, type KeyObject, randomBytes } from "node:crypto";
import { settings } from "@/lib/config/settings";
import { perProcess } from "@/lib/per-process";
import { isGeneratedSecret, readOrCreateSecret } from "@/lib/runtime/data-dir";

/** The purpose of a derived key. A key for one purpose is useless for any other (RFC 5869 §3.2). */
export type Purpose =
  | "authorization-code:v1"
  | "client-address:v1"
  | "client-id:v1"
  | "connect-device:v1"
  | "connect-fault:v1"
  | "connect-refusal:v1"
  | "invitation-mail:v1"
  | "keep-account:v1"
  | "email-change:v1"
  | "known-browser:v1"
  | "link-key:v1"
  | "log-subject:v1"
  | "passkey-challenge:v2"
  | "proof-nonce:v1"
  | "proxy-probe:v1"
  | "refresh-token:v1"
  | "security-mail:v1"
  | "sign-in-code:v1"
  | "signing-key:v1"
  | "webhook:v1";

/**
 * Derives the 32-byte keys for one purpose. The first is from the current `APP_SECRET` and signs; the second, from
 * `APP_SECRET_PREVIOUS`, only verifies. Throws a DataDirError when a generated secret cannot be stored in `DATA_DIR`,
 * or is damaged there. An HMAC under a Buffer takes Node eight times as long as one under a KeyObject.
 */
export function derivedKeys(purpose: Purpose): [newest: KeyObject, ...previous: KeyObject[]] {
  return perProcess(`derived keys ${purpose}`, (): [KeyObject, ...KeyObject[]] => {
    const { previousAppSecret } = settings();
    const newest = currentSecret();
    const derive = (secret: string) =>
      createSecretKey(Buffer.from(hkdfSync("sha256", secret, "", purpose, 32)));
    return [derive(newest), ...(previousAppSecret ? [derive(previousAppSecret)] : [])];
  })();
}

/** `APP_SECRET`, or the generated secret in `DATA_DIR`: read once, so removing the folder later changes nothing. */
export const currentSecret = perProcess("app secret", (): string => {
  const { appSecret, dataDir } = settings();
  return appSecret ?? readOrCreateSecret(dataDir, () => randomBytes(32).toString("base64url"));
});

/** Stores a restored secret in an empty `DATA_DIR`. Returns whether it is the current secret now. */
export function storeSecret(secret: string): boolean {
  const { appSecret, dataDir } = settings();
  if (appSecret !== undefined || !isGeneratedSecret(secret)) return appSecret === secret;
  return readOrCreateSecret(dataDir, () => secret) === secret;
}
