import { codeMinutes } from "@/lib/config/lifetimes";
import type { SentHeaders } from "@/lib/http/call";
import { readCookie, writeCookie } from "@/lib/http/cookies";
import { type Page, pages } from "@/lib/http/register/pages";

/** As long as a code works. */
export const askedPageSeconds = codeMinutes * 60;

/** The `Set-Cookie` by which a sign-in leads to the owner's page that was asked for, as the links in mails do. */
export function keepAskedPage(path: string): string {
  return writeCookie("office-back", path, askedPageSeconds);
}

/** The owner's page that this browser asked for before it signed in; home without one. */
export function askedPage(headers: SentHeaders): string {
  const asked = readCookie(headers, "office-back");
  const own = Object.values<Page>(pages).find(({ access, path }) => access === "session" && path === asked);
  return (own ?? pages.home).path;
}
