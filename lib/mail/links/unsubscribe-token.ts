import { createHmac } from "node:crypto";
import { settings } from "@/lib/config/settings";
import { store } from "@/lib/db/store";
import { operations } from "@/lib/http/register/operations";
import { ensureLinkKeys } from "@/lib/mail/links/link-keys";
import { isSameSecret } from "@/lib/runtime/keyed-hash";

/** The token of an account's unsubscribe link: `v1.<account id>.<HMAC-SHA-256>`. It does not expire. */
export function mintUnsubscribeToken(key: Buffer, accountId: string): string {
  const signed = `v1.${accountId}`;
  return `${signed}.${createHmac("sha256", key).update(signed).digest("base64url")}`;
}

/**
 * The account id of a valid token; else `undefined`. Throws if the token may be
 * valid but the keys cannot be read.
 */
export async function readUnsubscribeToken(token: string): Promise<string | undefined> {
  const accountId = /^v1\.([\w-]{1,64})\.[\w-]{43}$/.exec(token)?.[1];
  if (!accountId) return undefined;
  const isMadeBy = (key: Buffer) => isSameSecret(token, mintUnsubscribeToken(key, accountId));
  const keys = await ensureLinkKeys(await store());
  return keys.some(isMadeBy) ? accountId : undefined;
}

/** The one-click URL for the List-Unsubscribe header (RFC 8058 §3.1), or that of the page that asks for confirmation. */
export function unsubscribeUrl(
  key: Buffer,
  accountId: string,
  { path }: { path: string } = operations.unsubscribe,
): string {
  return `${settings().appUrl}${path}?token=${mintUnsubscribeToken(key, accountId)}`;
}
