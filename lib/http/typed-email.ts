import { readCookie, writeCookie } from "@/lib/http/cookies";

export const typedEmailSeconds = 10 * 60; // 10 minutes
const maxCharacters = 254; // of an email address, and of the fields that take one

/** The `Set-Cookie`s that keep a typed email for the next form. In an address it would leak. */
export function rememberTypedEmail(typed: string): string[] {
  if (typed === "" || typed.length > maxCharacters) return [];
  return [writeCookie("office-email", Buffer.from(typed).toString("base64url"), typedEmailSeconds)];
}

/** The email typed last in this browser, valid or not; empty if there is none. */
export function readTypedEmail(headers: Pick<Headers, "get">): string {
  const kept = readCookie(headers, "office-email") ?? "";
  return Buffer.from(kept, "base64url").toString().slice(0, maxCharacters);
}
