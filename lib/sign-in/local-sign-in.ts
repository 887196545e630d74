import { setTimeout as sleep } from "node:timers/promises";
import { dropCookie, writeCookie } from "@/lib/api/cookies";
import { pages } from "@/lib/api/pages";
import type { Onward, Submission } from "@/lib/pages/form";
import { isKnownTo, rememberBrowser } from "@/lib/pages/known-browser";
import { afterAnswer } from "@/lib/process/after-answer";
import { log } from "@/lib/process/log";
import {
  browserSessionSeconds,
  renewBrowserSession,
  sessionTokenSeconds,
  startBrowserSession,
} from "@/lib/session/browser-session";
import { nameBrowser } from "@/lib/session/session-name";
import type { MintedToken } from "@/lib/session/session-token";
import { makeCode } from "@/lib/sign-in/code";
import { sendSignInMailsNow } from "@/lib/sign-in/sign-in-runner";
import { store } from "@/lib/store/store";

const nobodySendsForMs = 1000; // 1 second

/**
 * Posts a code to an email, and sends the browser on to where it is typed. Whether the email has an account shows
 * nowhere: not in the answer, nor in how long it takes, because the runner finds that out once the answer has left.
 */
export async function sendCode(email: string, { headers, client, nowMs }: Submission): Promise<Onward> {
  const asker = { email, address: client, isKnown: isKnownTo(headers, email) };
  const { browser, untilMs } = await makeCode(await store(), asker, nowMs);
  afterAnswer(sendWhereNobodyDoes);
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
  { headers, nowMs }: Pick<Submission, "headers" | "nowMs">,
): Promise<Onward | undefined> {
  const db = await store();
  const account = await db.selectFrom("accounts").select("id").where("email", "=", email).executeTakeFirst();
  if (!account) return undefined;
  const browser = { accountId: account.id, name: nameBrowser(headers) };
  const client = await startBrowserSession(db, browser, nowMs);
  const session = await renewBrowserSession(db, client, nowMs);
  if (!session) return undefined;
  return {
    to: pages.home.path,
    cookies: [
      writeCookie("office-client", client, browserSessionSeconds),
      writeSession(session),
      rememberBrowser(headers, email),
      dropCookie("office-code"),
      dropCookie("office-email"),
    ],
  };
}

/** The `Set-Cookie` of a session token, which lives as long as the token. */
export function writeSession({ token }: MintedToken): string {
  return writeCookie("__session", token, sessionTokenSeconds);
}

/** The `Set-Cookie`s of a browser that is signed out. */
export function dropSession(): string[] {
  return [dropCookie("office-client"), dropCookie("__session")];
}
