import { after } from "next/server";
import { dropCookie, writeCookie } from "@/lib/api/cookies";
import type { Onward } from "@/lib/pages/form";
import { log } from "@/lib/process/log";
import {
  browserSessionSeconds,
  renewBrowserSession,
  sessionTokenSeconds,
  startBrowserSession,
} from "@/lib/session/session";
import type { MintedToken } from "@/lib/session/session-token";
import { codeMinutes, makeCode } from "@/lib/sign-in/code";
import { sendSignInMailsNow } from "@/lib/sign-in/sign-in-runner";
import type { Db } from "@/lib/store/store";

/**
 * Posts a code to an email, and sends the browser on to where it is typed. Whether the email has an account shows
 * nowhere: not in the answer, nor in how long it takes, because the runner finds that out once the answer has left.
 */
export async function sendCode(db: Db, email: string, nowMs: number): Promise<Onward> {
  const made = await makeCode(db, email, nowMs);
  if (!made) return { to: "/sign-in?problem=too-many" };
  after(() =>
    sendSignInMailsNow().catch((failure) =>
      log().warn({ err: failure }, "a sign-in mail is left for the runner: the store is away"),
    ),
  );
  const cookie = writeCookie("office-code", made.browser, codeMinutes * 60);
  return { to: "/sign-in/code", cookies: [cookie] };
}

/** Signs a browser in to the account of an email, and sends it home. `undefined` when there is no such account. */
export async function signIn(db: Db, email: string, nowMs: number): Promise<Onward | undefined> {
  const account = await db.selectFrom("accounts").select("id").where("email", "=", email).executeTakeFirst();
  if (!account) return undefined;
  const client = await startBrowserSession(db, account.id, nowMs);
  const session = await renewBrowserSession(db, client, nowMs);
  if (!session) return undefined;
  return {
    to: "/home",
    cookies: [
      writeCookie("office-client", client, browserSessionSeconds),
      writeSession(session),
      dropCookie("office-code"),
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
