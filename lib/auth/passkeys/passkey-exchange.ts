import {
  ceremonyMs,
  creationOptions,
  type RelyingParty,
  requestOptions,
  verifyAuthentication,
  verifyRegistration,
} from "@/lib/auth/passkeys/passkey-ceremony";
import { hasRow } from "@/lib/db/has-row";
import type { Db } from "@/lib/db/store";
import type { Call } from "@/lib/http/call";
import { cookieHeaders, readCookie, writeCookie } from "@/lib/http/cookies";
import type { ResponseParts } from "@/lib/http/response";
import { log } from "@/lib/runtime/log";
import { seal, unseal } from "@/lib/runtime/seal";
import { mintSecret } from "@/lib/runtime/secret";

/*
 * What a browser and we exchange, so that it signs with a passkey or creates one: the options, its response, and the use of
 * the passkey. A challenge proves itself, so that it costs us nothing until it is signed: it is the instant when it expires,
 * sealed for the secret of the browser that asked and for one purpose. Only a challenge whose signature was verified is
 * stored, until it expires, so that it works once.
 */

/** Where passkeys are used: by owners at the service, or by operators at the office. */
export type PasskeySite = RelyingParty & {
  table: "passkeys" | "operator_passkeys";
  /** Keeps the secret that binds challenges to a browser. */
  cookie: "office-passkey" | "operator-browser";
};

/** How long a browser keeps the secret that binds its challenges. */
export const browserSecretSeconds = 10 * 60; // longer than a challenge lives

type Sent = Pick<Call, "headers" | "nowMs">;

/**
 * Asks a browser to sign with any passkey of the site: only the challenge differs.
 *
 * @param purpose - what the signature will be used for; it works for nothing else
 */
export function askToSign(call: Sent, site: PasskeySite, purpose: string): ResponseParts {
  const { challenge, cookie } = challengeBrowser(call, site, purpose);
  return { status: 200, body: requestOptions(site, challenge), headers: cookieHeaders([cookie]) };
}

/** Asks a browser to create a passkey for someone who has those with the `excludedIds`, and to keep other cookies too. */
export function askToCreate(
  call: Sent,
  site: PasskeySite,
  purpose: string,
  { user, excludedIds, cookies = [] }: { user: User; excludedIds: string[]; cookies?: string[] },
): ResponseParts {
  const { challenge, cookie } = challengeBrowser(call, site, purpose);
  const body = creationOptions(site, challenge, user, excludedIds);
  return { status: 200, body, headers: cookieHeaders([cookie, ...cookies]) };
}

type User = Parameters<typeof creationOptions>[2];

/** What a browser has signed for this purpose: see {@link verifyAuthentication}. */
export function readSigned<Passkey extends { public_key: string }>(
  call: Call,
  site: PasskeySite,
  purpose: string,
  findPasskey: (credentialId: string) => Promise<Passkey>,
) {
  return verifyAuthentication(site, call.body, expectedOf(call, site, purpose), findPasskey);
}

/** The passkey that a browser has created for this purpose: see {@link verifyRegistration}. */
export function readCreated(call: Call, site: PasskeySite, purpose: string) {
  return verifyRegistration(site, call.body, expectedOf(call, site, purpose));
}

/** A challenge for this browser that lives five minutes, and the `Set-Cookie` that binds it. Its tabs share the cookie. */
function challengeBrowser({ headers, nowMs }: Sent, { cookie: kept }: PasskeySite, purpose: string) {
  const browser = readCookie(headers, kept) ?? mintSecret();
  return {
    challenge: seal("passkey-challenge:v2", labelOf(browser, purpose), String(nowMs + ceremonyMs)),
    cookie: writeCookie(kept, browser, browserSecretSeconds),
  };
}

/** Returns a function that checks whether a challenge was given to this browser for this purpose, and still lives. */
export function expectedOf(
  { headers, nowMs }: Sent,
  { cookie: kept }: Pick<PasskeySite, "cookie">,
  purpose: string,
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

/**
 * Uses up a challenge and counts the use of the passkey that signed it, in the caller's transaction. Returns why it does not
 * count: a challenge works once, and a signature counter that is in use must grow (§6.1.1), or the passkey was copied. One
 * that is synced is copied by intent: its devices count apart, and it counts anew in another password manager.
 */
export async function usePasskey(
  transaction: Db,
  { table }: PasskeySite,
  { passkey: { credential_id }, challenge, counter, isSynced }: Signed,
  nowMs: number,
): Promise<keyof typeof notCounted | undefined> {
  if (!(await consumeChallenge(transaction, challenge, nowMs))) return "used";
  const passkeys = transaction.selectFrom(table).select("counter").where("credential_id", "=", credential_id);
  const stored = await passkeys.forUpdate().executeTakeFirst();
  if (!stored) return "removed";
  if (!isSynced && counter <= stored.counter && counter + stored.counter > 0) {
    log().warn({ credentialId: credential_id }, `a passkey was refused: ${notCounted.copied}`);
    return "copied";
  }
  await transaction
    .updateTable(table)
    .set({ counter, last_used_at_ms: nowMs })
    .where("credential_id", "=", credential_id)
    .execute();
  return undefined;
}

/** Why the use of a passkey does not count, in words. */
export const notCounted = {
  used: "the challenge was used before",
  removed: "the passkey was removed",
  copied: "the signature counter went back",
} as const;

type Signed = {
  passkey: { credential_id: string };
  challenge: string;
  counter: number;
  isSynced: boolean;
};

/** The passkeys that were made for another host than the relying party's, counted by host: they cannot be used. */
export async function countStrandedPasskeys(
  db: Db,
  { id, table }: PasskeySite,
): Promise<{ rp_id: string; count: number }[]> {
  const rows = await db
    .selectFrom(table)
    .select(({ fn }) => ["rp_id", fn.countAll<number>().as("count")])
    .where("rp_id", "!=", id)
    .groupBy("rp_id")
    .orderBy("rp_id")
    .execute();
  return rows.map(({ rp_id, count }) => ({ rp_id, count: Number(count) }));
}
