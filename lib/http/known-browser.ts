import { randomBytes } from "node:crypto";
import { readCookie, writeCookie } from "@/lib/http/cookies";
import { isKeyedHash, keyedHash } from "@/lib/runtime/keyed-hash";

/*
 * A browser that has signed in keeps a cookie: `<id>.<HMAC of the id>.<HMAC of an email>…`. The cookie does not sign in.
 * It gives the browser rate limits of its own, for forms and for the codes of those emails, which strangers cannot use up.
 */

export const knownSeconds = 180 * 24 * 60 * 60; // 180 days after the last sign-in
const maxEmails = 4;
const purpose = "known-browser:v1";

/** The id of a browser that has signed in before; `undefined` for any other, and if the HMAC is wrong. */
export function readKnownBrowser(headers: Headers): string | undefined {
  return readKnown(headers)?.id;
}

/** Whether this browser has signed in with this email before. */
export function isKnownTo(headers: Headers, email: string): boolean {
  const { id, proofs = [] } = readKnown(headers) ?? {};
  return proofs.some((proof) => isKeyedHash(proof, purpose, `${id}.${email}`));
}

/** The `Set-Cookie` of a browser that has just signed in with this email. It keeps the previous emails. */
export function rememberBrowser(headers: Headers, email: string): string {
  const { id, proofs } = readKnown(headers) ?? { id: randomBytes(16).toString("base64url"), proofs: [] };
  const others = proofs.filter((proof) => !isKeyedHash(proof, purpose, `${id}.${email}`));
  const emails = [keyedHash(purpose, `${id}.${email}`), ...others].slice(0, maxEmails);
  return writeCookie("office-known", [id, keyedHash(purpose, id), ...emails].join("."), knownSeconds);
}

function readKnown(headers: Headers): { id: string; proofs: string[] } | undefined {
  const [id, proof = "", ...proofs] = readCookie(headers, "office-known")?.split(".", 2 + maxEmails) ?? [];
  return id && isKeyedHash(proof, purpose, id) ? { id, proofs } : undefined;
}
