import { dayMs, hourMs } from "@/lib/config/durations";
import { frequentStatement } from "@/lib/db/frequent-statement";
import { sweep } from "@/lib/db/old-rows";
import type { Db } from "@/lib/db/store";
import { perProcess } from "@/lib/per-process";

/*
 * There are two kinds of code. The short one has six digits and works only in the browser that requested it. It can be
 * guessed, so each email has a daily allowance of short codes with five attempts each: five codes for unknown browsers
 * (three per client address), and ten more for browsers that signed in to this email before. An attacker who guesses all
 * day succeeds with a probability of 25 in a million (1 in 40,000), or of 50 in a million with a stolen known-browser
 * cookie. A redeemed code no longer counts, because only the owner can redeem it. {@link areCodesLonger} bounds guessing at
 * all emails together.
 *
 * Beyond that, the next code is long: twelve characters out of 32, too many to guess. It works once, in any browser that
 * requested a code for this email. It is mailed once in six hours, however often it is requested, so a valid one is
 * always in the mailbox. So the owner can sign in from a new browser even while strangers flood the email: their
 * requests do not use the long code up.
 *
 * Strangers can therefore cause ten mails to one address in 24 hours: five with a short code and five with a long one,
 * plus one each time the owner redeems a long code.
 */

const maxShortCodes = { knownBrowsers: 10, strangers: 5, oneAddress: 3 };

/** How long the page waits before its reader can have another code: most mails have arrived by then. */
export const sendAgainAfterSeconds = 30;

/** How long a code counts towards its allowance. */
export const codesKeptMs = dayMs;

/** The most rows that strangers can make us keep in a table: more than 250 requests a second in six minutes. */
const maxRows = 100_000;

/** The allowance of short codes that a code counts towards; a long code counts towards none. */
export type CodeAllowance = "known" | "stranger" | "long";

/** The client that requests a code. */
export type CodeRequester = {
  email: string;
  address?: string | undefined;
  isKnown?: boolean;
  /** Its browser in fixed words, for the mail. */
  browser?: string;
};

/**
 * Locks an email, so that concurrent requests for it cannot exceed its allowances. Returns when its long code expires,
 * in Unix milliseconds.
 */
export async function lockEmail(transaction: Db, email: string): Promise<number> {
  const [row] = (await insertEmail(transaction, email)).rows;
  return row?.long_code_until_ms ?? 0;
}

const insertEmail = frequentStatement((db, email: string) =>
  db
    .insertInto("sign_in_emails")
    .values({ email, long_code_hash: "", long_code_until_ms: 0 })
    .onConflict((conflict) => conflict.column("email").doUpdateSet({ email }))
    .returning("long_code_until_ms"),
);

/** When the ceiling of codes was last reached: since then, not every short code of a day is counted. */
const ceilings = perProcess("ceilings of sign-in codes", () => ({
  reachedAtMs: Number.NEGATIVE_INFINITY,
}));

/**
 * Deletes expired codes, mails and challenges of passkeys and, beyond a ceiling of each table, the oldest ones, whether their
 * emails have accounts or not.
 */
export async function sweepCodes(db: Db, nowMs: number, max = maxRows): Promise<void> {
  const codes = { table: "sign_in_codes", key: ["browser_hash"], column: "created_at_ms" } as const;
  const emails = { table: "sign_in_emails", key: ["email"], column: "long_code_until_ms" } as const;
  const mails = { table: "sign_in_mails", key: ["id"], column: "expires_at_ms" } as const;
  const challenges = { table: "passkey_challenges", key: ["challenge"], column: "expires_at_ms" } as const;
  if (await sweep(db, { ...codes, untilMs: nowMs - codesKeptMs, max })) ceilings().reachedAtMs = nowMs;
  for (const old of [emails, mails, challenges]) await sweep(db, { ...old, untilMs: nowMs, max });
}

/** Chooses the allowance that the next code counts towards; "long" when no short code is left, or it cannot be told. */
export async function chooseAllowance(
  transaction: Db,
  { email, address, isKnown = false }: CodeRequester,
  nowMs: number,
): Promise<CodeAllowance> {
  if (Math.abs(nowMs - ceilings().reachedAtMs) < codesKeptMs) return "long";
  const { rows: codes } = await readShares(transaction, email, nowMs - codesKeptMs);
  const strangers = codes.filter(({ share }) => share === "stranger");
  if (isKnown && codes.length - strangers.length < maxShortCodes.knownBrowsers) return "known";
  const ofAddress = strangers.filter(({ asker_hash }) => asker_hash === address);
  const mayBeShort =
    strangers.length < maxShortCodes.strangers && ofAddress.length < maxShortCodes.oneAddress;
  return mayBeShort ? "stranger" : "long";
}

const readShares = frequentStatement((db, email: string, sinceMs: number) =>
  db
    .selectFrom("sign_in_codes")
    .select(["share", "asker_hash"])
    .where("email", "=", email)
    .where("share", "in", ["known", "stranger"])
    .where("created_at_ms", ">", sinceMs),
);

/**
 * What bounds guessing at all emails together, from however many networks: after so many wrong codes in an hour that were
 * not followed by the right one, six digits are not enough for a browser that is not known. The next codes have eight
 * characters, and those with six are no longer taken. So at most 720 of a million codes are guessed at in a day. Known
 * browsers are left out: a stranger has no such cookie.
 */
const maxWrongCodes = 30;

/** Counts the wrong codes of unknown browsers in the last hour, up to a little more than {@link maxWrongCodes}. */
export async function countWrongCodes(db: Db, nowMs: number): Promise<number> {
  const { rows } = await readTries(db, nowMs - hourMs);
  return rows.reduce((sum, { tries }) => sum + tries, 0);
}

const readTries = frequentStatement((db, sinceMs: number) =>
  db
    .selectFrom("sign_in_codes")
    .select("tries")
    .where("tried_at_ms", ">", sinceMs)
    .where("share", "=", "stranger")
    .limit(maxWrongCodes),
);

/** Whether codes for unknown browsers have to be longer now. */
export async function areCodesLonger(db: Db, nowMs: number): Promise<boolean> {
  return (await countWrongCodes(db, nowMs)) >= maxWrongCodes;
}
