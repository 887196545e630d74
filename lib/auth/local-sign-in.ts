import { setTimeout as sleep } from "node:timers/promises";
import {
  browserSessionSeconds,
  renewBrowserSession,
  sessionTokenSeconds,
  startBrowserSession,
} from "@/lib/auth/browser-session";
import { describeBrowser } from "@/lib/auth/session-name";
import type { MintedToken } from "@/lib/auth/session-token";
import { makeCode } from "@/lib/auth/sign-in-code";
import { sendSignInMailsNow } from "@/lib/auth/sign-in-runner";
import { store } from "@/lib/db/store";
import { clearCookie, writeCookie } from "@/lib/http/cookies";
import type { FormSubmission, Redirect } from "@/lib/http/form";
import { isKnownTo, rememberBrowser } from "@/lib/http/known-browser";
import { pages } from "@/lib/http/pages";
import { afterResponse } from "@/lib/runtime/after-response";
import { log } from "@/lib/runtime/log";

const nobodySendsForMs = 1000; // 1 second

/**
 * Posts a code to an email, and sends the browser on to where it is typed. Whether the email has an account shows
 * nowhere: not in the answer, nor in how long it takes, because the runner finds that out once the answer has left.
 */
export async function sendCode(email: string, { headers, client, nowMs }: FormSubmission): Promise<Redirect> {
  const requester = { email, address: client, isKnown: isKnownTo(headers, email) };
  const { browser, untilMs } = await makeCode(await store(), requester, nowMs);
  afterResponse(sendWhereNobodyDoes);
  const secondsLeft = Math.ceil((untilMs - nowMs) / 1000);
  return { to: pages.code.path, cookies: [writeCookie("office-code", browser, secondsLeft)] };
}

/** A platform without our server has no runner. Where there is one, it has long sent the mail by now. */
async function sendWhereNobodyDoes(): Promise<void> {
  await sleep(nobodySendsForMs);
  await sendSignInMailsNow().catch((failure) =>
    log().warn({ err: failure }, "a sign-in mail is left for the runner: the store is away"),
  );
}

/** Signs a browser in to the account of an email, and sends it home. `undefined` when there is no such account. */
export async function signIn(
  email: string,
  { headers, nowMs }: Pick<FormSubmission, "headers" | "nowMs">,
): Promise<Redirect | undefined> {
  const db = await store();
  const account = await db.selectFrom("accounts").select("id").where("email", "=", email).executeTakeFirst();
  if (!account) return undefined;
  const browser = { accountId: account.id, name: describeBrowser(headers) };
  const client = await startBrowserSession(db, browser, nowMs);
  const session = await renewBrowserSession(db, client, nowMs);
  if (!session) return undefined;
  return {
    to: pages.home.path,
    cookies: [
      writeCookie("office-client", client, browserSessionSeconds),
      writeSession(session),
      rememberBrowser(headers, email),
      clearCookie("office-code"),
      clearCookie("office-email"),
    ],
  };
}

/** The `Set-Cookie` of a session token, which lives as long as the token. */
export function writeSession({ token }: MintedToken): string {
  return writeCookie("__session", token, sessionTokenSeconds);
}

/** The `Set-Cookie`s of a browser that is signed out. */
export function clearSession(): string[] {
  return [clearCookie("office-client"), clearCookie("__session")];
}
