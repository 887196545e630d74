import { makeCode } from "@/lib/auth/codes/sign-in-code";
import { codesKeptMs } from "@/lib/auth/codes/sign-in-code-limits";
import { requireSigningKey } from "@/lib/auth/keys/key-ring";
import {
  browserSessionSeconds,
  findOwnSession,
  mintBrowserToken,
  renewBrowserSession,
  sessionTokenSeconds,
} from "@/lib/auth/sessions/browser-session";
import { confirmBrowserSession } from "@/lib/auth/sessions/owner-confirmation";
import { type Confirmation, mintSessionId } from "@/lib/auth/sessions/session";
import { endSession } from "@/lib/auth/sessions/session-end";
import { describeBrowser, describeStart } from "@/lib/auth/sessions/session-name";
import { startInTurn } from "@/lib/auth/sessions/session-start";
import type { MintedToken } from "@/lib/auth/tokens/session-token";
import { dayMs } from "@/lib/config/durations";
import { endsFrom } from "@/lib/config/lifetimes";
import { settings } from "@/lib/config/settings";
import { accountBy } from "@/lib/db/account-by";
import { auditEntries } from "@/lib/db/audit";
import { frequentStatement } from "@/lib/db/frequent-statement";
import { type Db, store } from "@/lib/db/store";
import { askedPage } from "@/lib/http/asked-page";
import type { Call, SentHeaders } from "@/lib/http/call";
import { clearCookie, readCookie, writeCookie } from "@/lib/http/cookies";
import type { Redirect } from "@/lib/http/form";
import { isKnownTo, rememberBrowser } from "@/lib/http/known-browser";
import { pages } from "@/lib/http/register/pages";
import { sendDueMails } from "@/lib/mail/outbox/outbox-runner";
import { outbox } from "@/lib/mail/outbox/outboxes";
import { sender } from "@/lib/mail/senders/sender";
import { isFrontServer } from "@/lib/rate-limit/client-address";
import { afterResponse } from "@/lib/runtime/after-response";
import { log } from "@/lib/runtime/log";
import { hashSecret, mintSecret } from "@/lib/runtime/secret";

/** Where owners prove again who they are, and where the proof leads back to. */
export const proofPlaces = {
  ways: `${pages.access.path}#ways`,
  email: `${pages.account.path}?change#address`,
  leave: `${pages.account.path}#leave`,
  automatic: `${pages.billing.path}?automatic#automatic`,
} as const;

const findPlace = (asked: string | undefined) => Object.values(proofPlaces).find((place) => place === asked);

/** As long as a code is stored, so that a browser can be told what became of the one that it requested. */
export const codeCookieSeconds = codesKeptMs / 1000;

const between = ".";
const maxRequested = 3;

/** The secrets of the codes that this browser has requested lately, the newest first. */
export function requestedCodes(headers: SentHeaders): string[] {
  return readCookie(headers, "office-code")?.split(between).slice(0, maxRequested) ?? [];
}

/**
 * Queues a code for an email and redirects the browser to the page where it is typed. Neither the response nor its
 * timing shows whether the email has an account, because the runner checks that after the response was sent.
 */
export async function sendCode(email: string, { field, headers, client, nowMs }: Call): Promise<Redirect> {
  await requireSigningKey(nowMs); // without the right secret no runner could open the mail
  const requester = {
    email,
    address: client.knownKey,
    isKnown: isKnownTo(headers, email),
    browser: describeBrowser(headers),
  };
  const { browser } = await makeCode(await store(), requester, nowMs);
  afterResponse(sendWithoutRunner);
  const back = findPlace(field("back"));
  const secrets = [browser, ...requestedCodes(headers)].slice(0, maxRequested);
  const cookies = [writeCookie("office-code", secrets.join(between), codeCookieSeconds)];
  if (back) cookies.push(writeCookie("office-back", back, codeCookieSeconds));
  return { to: pages.code.path, cookies };
}

/** Sends the mail where our server, and so the runner, does not run. */
async function sendWithoutRunner(): Promise<void> {
  if (isFrontServer()) return;
  await store()
    .then((db) => sendDueMails(db, sender(), outbox))
    .catch((failure) =>
      log().warn({ err: failure }, "the store is unavailable: a sign-in mail is left for the runner"),
    );
}

/**
 * Signs a browser in to the account of an email, in place of another account. A browser that is signed in to this account
 * keeps its session, which is confirmed. `undefined` if there is no such account. The caller has asked for the signing key
 * before, so that nothing is used up where there is none. Changes of the account's sessions wait until its transaction ends.
 *
 * @param by - how the owner has proved who they are
 */
export async function signIn(
  transaction: Db,
  email: string,
  by: Confirmation,
  call: Pick<Call, "headers" | "client" | "nowMs">,
): Promise<Redirect | undefined> {
  const { headers, nowMs } = call;
  const [account] = (await lockAccount(transaction, email)).rows;
  if (!account?.subject) return undefined;
  const { subject } = account;
  const current = await findOwnSession(transaction, headers, nowMs);
  const isConfirmed = current?.accountId === account.id;
  const secret = mintSecret();
  let session: MintedToken | undefined;
  if (isConfirmed) {
    await confirmBrowserSession(transaction, current, { by, secret }, nowMs);
    session = await renewBrowserSession(transaction, secret, nowMs);
  } else {
    if (current) await endBrowserSession(transaction, current.sessionId, nowMs);
    const isNew = await isNewBrowser(transaction, headers, { email, ...account }, nowMs);
    const started = {
      id: mintSessionId(),
      account_id: account.id,
      kind: "browser",
      name: describeBrowser(headers),
      ...endsFrom("browser", nowMs),
      client_hash: hashSecret("client", secret),
      confirmed_by: by,
      ...describeStart(call),
      ...(isNew && { mail: { kind: "new browser" } as const }),
    };
    await startInTurn(transaction, { by: "owner", what: "sign in", email }, started, nowMs);
    session = await mintBrowserToken(
      { subject, sessionId: started.id, endsAtMs: started.expires_at_ms },
      nowMs,
    );
  }
  if (!session) return undefined;
  const back = findPlace(readCookie(headers, "office-back")) ?? proofPlaces.ways;
  return {
    to: isConfirmed ? back : askedPage(headers),
    cookies: [
      writeCookie("office-client", secret, browserSessionSeconds),
      writeSession(session),
      rememberBrowser(headers, { ...account, email }, nowMs),
      ...(["office-code", "office-back", "office-email"] as const).map(clearCookie),
    ],
  };
}

const lockAccount = frequentStatement((db, email: string) =>
  accountBy(db, "email", email).select(["id", "subject", "created_at_ms"]).forNoKeyUpdate(),
);

/** Whether a mail tells the owner of a sign-in: in a browser that had not signed in to the account before. */
async function isNewBrowser(
  db: Db,
  headers: SentHeaders,
  { email, created_at_ms: sinceMs }: { email: string; created_at_ms: number },
  nowMs: number,
): Promise<boolean> {
  if (isKnownTo(headers, email)) return false;
  // The first sign-in is no news. The audit forgets it, so an older account counts as used.
  if (sinceMs <= nowMs - settings().retentionDays * dayMs) return true;
  return (await findSignIn(db, email, sinceMs)).rows.length > 0;
}

const findSignIn = frequentStatement((db, email: string, sinceMs: number) =>
  auditEntries(db, { whom: [email], what: "sign in", sinceMs }).limit(1),
);

/** Signs a browser out: ends this session of it, so that its tokens are refused and cannot be renewed. */
export function endBrowserSession(db: Db, sessionId: string, nowMs: number): Promise<void> {
  return endSession(db, { by: "owner", what: "sign out" }, sessionId, nowMs);
}

/** The `Set-Cookie` of a session token; the cookie lives as long as the token. */
export function writeSession({ token }: MintedToken): string {
  return writeCookie("__session", token, sessionTokenSeconds);
}

/** The `Set-Cookie` values that sign a browser out. */
export function clearSession(): string[] {
  return [clearCookie("office-client"), clearCookie("__session")];
}
