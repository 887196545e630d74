import { readCookie, writeCookie } from "@/lib/http/cookies";

const keptSeconds = 10 * 60; // 10 minutes
const maxCharacters = 254; // of an email address, and of the fields that take one

/** The `Set-Cookie`s that keep an email as it was typed, so that nobody types it twice: an address would tell it on. */
export function rememberTypedEmail(typed: string): string[] {
  if (typed === "" || typed.length > maxCharacters) return [];
  return [writeCookie("office-email", Buffer.from(typed).toString("base64url"), keptSeconds)];
}

/** The email that was typed last in this browser, right or wrong; empty when there is none. */
export function readTypedEmail(headers: Pick<Headers, "get">): string {
  const kept = readCookie(headers, "office-email") ?? "";
  return Buffer.from(kept, "base64url").toString().slice(0, maxCharacters);
}
