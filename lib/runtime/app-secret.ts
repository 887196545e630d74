import { hkdfSync, randomBytes } from "node:crypto";
import { settings } from "@/lib/config/settings";
import { processSingleton } from "@/lib/process-singleton";
import { readOrCreateInDataDir } from "@/lib/runtime/data-dir";

/** What a derived key is for. A key of one purpose proves nothing for another (RFC 5869 §3.2). */
export type Purpose =
  | "client-address:v1"
  | "client-id:v1"
  | "connect-device:v1"
  | "connect-refusal:v1"
  | "known-browser:v1"
  | "log-subject:v1"
  | "sign-in-code:v1"
  | "sign-in-mail:v1"
  | "signing-key:v1"
  | "unsubscribe:onboarding:v1";

const madeSecret = {
  make: () => randomBytes(32).toString("base64url"),
  isSound: (text: string) => /^[\w-]{43}$/.test(text),
};

/**
 * The 32-byte keys derived from `APP_SECRET` for one purpose: the newest first, which signs, then the one
 * of `APP_SECRET_PREVIOUS`, which still verifies. Throws a DataDirError when a made secret cannot be kept in `DATA_DIR`, or is damaged there.
 */
export function derivedKeys(purpose: Purpose): [newest: Buffer, ...previous: Buffer[]] {
  return processSingleton(`derived keys ${purpose}`, () => {
    const { previousAppSecret } = settings();
    const newest = currentSecret();
    const derive = (secret: string) => Buffer.from(hkdfSync("sha256", secret, "", purpose, 32));
    return [derive(newest), ...(previousAppSecret ? [derive(previousAppSecret)] : [])];
  });
}

/** `APP_SECRET`, or what was made in its place; read once, so that a folder taken away later changes nothing. */
export function currentSecret(): string {
  const { appSecret, dataDir } = settings();
  return processSingleton(
    "app secret",
    () => appSecret ?? readOrCreateInDataDir(dataDir, "app-secret", madeSecret),
  );
}

/** Has a secret of before be ours in an empty `DATA_DIR`. Answers whether it is ours now. */
export function storeSecret(secret: string): boolean {
  const { appSecret, dataDir } = settings();
  if (appSecret !== undefined || !madeSecret.isSound(secret)) return appSecret === secret;
  return readOrCreateInDataDir(dataDir, "app-secret", { ...madeSecret, make: () => secret }) === secret;
}
