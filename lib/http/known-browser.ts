import { createHmac, randomBytes } from "node:crypto";
import { readCookie, writeCookie } from "@/lib/http/cookies";
import { derivedKeys } from "@/lib/runtime/app-secret";
import { isSameSecret } from "@/lib/runtime/constant-time";

/*
 * A browser that signed in keeps a proof of it: `<id>.<proof of the id>.<proof of an email>…`, each proof a keyed hash.
 * It signs nobody in. It gives its owner allowances that no stranger spends: of forms, and of codes for the emails
 * that signed in there.
 */

const knownSeconds = 180 * 24 * 60 * 60; // 180 days from the last time it signed in
const maxEmails = 4;

type CookieHeaders = Pick<Headers, "get">;

/** The id of a browser that signed in before; `undefined` for any other, and for a proof that is not ours. */
export function readKnownBrowser(headers: CookieHeaders): string | undefined {
  const [id = "", proof = ""] = readCookie(headers, "office-known")?.split(".") ?? [];
  return isProof(proof, id) ? id : undefined;
}

/** Whether this browser signed in to this email before. */
export function isKnownTo(headers: CookieHeaders, email: string): boolean {
  const id = readKnownBrowser(headers);
  const proofs =
    readCookie(headers, "office-known")
      ?.split(".")
      .slice(2, 2 + maxEmails) ?? [];
  return id !== undefined && proofs.some((proof) => isProof(proof, `${id}.${email}`));
}

/** The `Set-Cookie` of a browser that has just signed in to this email: it stays known to the ones before. */
export function rememberBrowser(headers: CookieHeaders, email: string): string {
  const known = readKnownBrowser(headers);
  const id = known ?? randomBytes(16).toString("base64url");
  const before = known ? (readCookie(headers, "office-known")?.split(".").slice(2) ?? []) : [];
  const others = before.filter((proof) => !isProof(proof, `${id}.${email}`));
  const emails = [prove(`${id}.${email}`), ...others].slice(0, maxEmails);
  return writeCookie("office-known", [id, prove(id), ...emails].join("."), knownSeconds);
}

function prove(text: string, key = derivedKeys("known-browser:v1")[0]): string {
  return createHmac("sha256", key).update(text).digest("base64url");
}

function isProof(proof: string, text: string): boolean {
  return derivedKeys("known-browser:v1").some((key) => isSameSecret(proof, prove(text, key)));
}
