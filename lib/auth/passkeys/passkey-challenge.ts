import { ceremonyMs } from "@/lib/auth/passkeys/passkey-ceremony";
import { hasRow } from "@/lib/db/has-row";
import type { Db } from "@/lib/db/store";
import type { Call } from "@/lib/http/call";
import { readCookie, writeCookie } from "@/lib/http/cookies";
import { seal, unseal } from "@/lib/runtime/seal";
import { mintSecret } from "@/lib/runtime/secret";

/*
 * A challenge proves itself, so that it costs us nothing until it is signed: it is the instant when it expires, sealed for
 * the secret of the browser that asked and for one purpose. Only a challenge whose signature was verified is stored, until
 * it expires, so that it works once.
 */

/** How long a browser keeps the secret that binds its challenges. */
export const browserSecretSeconds = 10 * 60; // longer than a challenge lives

type BrowserCookie = "office-passkey" | "operator-browser";

type Sent = Pick<Call, "headers" | "nowMs">;

/**
 * A challenge for this browser that lives five minutes, and the `Set-Cookie` that binds it. Tabs of one browser share the
 * cookie.
 *
 * @param purpose - what the signature will be used for; it works for nothing else
 */
export function challengeBrowser(
  { headers, nowMs }: Sent,
  purpose: string,
  kept: BrowserCookie = "office-passkey",
): { challenge: string; cookie: string } {
  const browser = readCookie(headers, kept) ?? mintSecret();
  return {
    challenge: seal("passkey-challenge:v2", labelOf(browser, purpose), String(nowMs + ceremonyMs)),
    cookie: writeCookie(kept, browser, browserSecretSeconds),
  };
}

/** Returns a function that checks whether a challenge was given to this browser for this purpose, and still lives. */
export function expectedOf(
  { headers, nowMs }: Sent,
  purpose: string,
  kept: BrowserCookie = "office-passkey",
): (challenge: string) => boolean {
  const browser = readCookie(headers, kept);
  return (challenge) =>
    browser !== undefined &&
    nowMs < Number(unseal("passkey-challenge:v2", labelOf(browser, purpose), challenge) ?? 0);
}

const labelOf = (browser: string, purpose: string) => JSON.stringify([browser, purpose]);

/** Uses a challenge up in the caller's transaction. Returns whether it was unused. */
export async function consumeChallenge(transaction: Db, challenge: string, nowMs: number): Promise<boolean> {
  return hasRow(
    transaction
      .insertInto("passkey_challenges")
      .values({ challenge, expires_at_ms: nowMs + ceremonyMs })
      .onConflict((conflict) => conflict.column("challenge").doNothing())
      .returning("challenge"),
  );
}
