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

/** The account id of a valid token, signed with the current or a previous secret; else `undefined`. */
export function readUnsubscribeToken(token: string): string | undefined {
  const keys = derivedKeys("unsubscribe:onboarding:v1");
  const accountId = /^v1\.([\w-]{1,64})\.[\w-]{43}$/.exec(token)?.[1];
  if (!accountId) return undefined;
  return keys.some((key) => isSameSecret(token, sign(accountId, key))) ? accountId : undefined;
}

function sign(accountId: string, key: Buffer): string {
  const signed = `v1.${accountId}`;
  return `${signed}.${createHmac("sha256", key).update(signed).digest("base64url")}`;
}

/** The one-click URL for the List-Unsubscribe header (RFC 8058 §3.1). */
export function unsubscribeUrl(accountId: string): string {
  return `${settings().appUrl}${operations.unsubscribe.path}?token=${mintUnsubscribeToken(accountId)}`;
}

/** The URL of the visible link in a mail: a page that asks for confirmation. */
export function unsubscribePageUrl(accountId: string): string {
  return `${settings().appUrl}${pages.unsubscribe.path}?token=${mintUnsubscribeToken(accountId)}`;
}
