import { createHmac } from "node:crypto";
import { settings } from "@/lib/config/settings";
import { operations } from "@/lib/http/operations";
import { pages } from "@/lib/http/pages";
import { derivedKeys } from "@/lib/runtime/app-secret";
import { isSameSecret } from "@/lib/runtime/constant-time";

/** The token of an account's unsubscribe link: `v1.<account id>.<HMAC-SHA-256>`. It does not expire. */
export function mintUnsubscribeToken(
  accountId: string,
  keys = derivedKeys("unsubscribe:onboarding:v1"),
): string {
  return sign(accountId, keys[0]);
}

/** The account id of a token that is ours to the byte, under the newest secret or the one before. */
export function readUnsubscribeToken(
  token: string,
  keys = derivedKeys("unsubscribe:onboarding:v1"),
): string | undefined {
  const accountId = /^v1\.([\w-]{1,64})\.[\w-]{43}$/.exec(token)?.[1];
  if (!accountId) return undefined;
  return keys.some((key) => isSameSecret(token, sign(accountId, key))) ? accountId : undefined;
}

function sign(accountId: string, key: Buffer): string {
  const signed = `v1.${accountId}`;
  return `${signed}.${createHmac("sha256", key).update(signed).digest("base64url")}`;
}

/** The one-click address of an account's emails: what List-Unsubscribe holds (RFC 8058 §3.1). */
export function unsubscribeUrl(accountId: string): string {
  return `${settings().appUrl}${operations.unsubscribe.path}?token=${mintUnsubscribeToken(accountId)}`;
}

/** The page of an account's emails that asks before it stops them: what the visible link in a mail opens. */
export function unsubscribePageUrl(accountId: string): string {
  return `${settings().appUrl}${pages.unsubscribe.path}?token=${mintUnsubscribeToken(accountId)}`;
}
