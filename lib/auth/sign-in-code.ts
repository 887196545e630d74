import { createHash, createHmac, randomBytes, randomInt } from "node:crypto";
import { type CodeRequester, chooseAllowance, lockEmail } from "@/lib/auth/sign-in-code-allowances";
import type { Db } from "@/lib/db/store";
import { postSignInMail } from "@/lib/mail/sign-in-outbox";
import { derivedKeys } from "@/lib/runtime/app-secret";
import { isSameSecret } from "@/lib/runtime/constant-time";

export const codeMinutes = 10;
export const longCodeHours = 6;
export const maxTries = 5;

const codeMs = codeMinutes * 60 * 1000;
const longCodeMs = longCodeHours * 60 * 60 * 1000;

/** Crockford's base 32, which has no letter that looks like a figure. */
const longAlphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const longCharacters = 12; // 60 bits

/** A code that a browser has asked for and can still redeem. */
export type RequestedCode = { email: string; isLong: boolean; postedAtMs: number; untilMs: number };

/** What became of a code that somebody typed. One that has not the form of a code is no try. */
export type Redeemed =
  | { email: string }
  | { problem: "form" | "over" }
  | { problem: "wrong"; triesLeft: number };

/**
 * Makes a code for an email, and posts the mail that brings it, whether or not it has an account, so that both take
 * the same work and time. Answers the secret that binds it to the asking browser, which is stored nowhere, and no
 * code where the long one lies in the mailbox already. Codes are stored as keyed hashes, because a million of them are
 * soon tried.
 */
export async function makeCode(
  db: Db,
  requester: CodeRequester,
  nowMs: number,
): Promise<{ browser: string; code: string | undefined; untilMs: number }> {
  const { email, address } = requester;
  const browser = randomBytes(32).toString("base64url");
  return db.transaction().execute(async (transaction) => {
    const longUntilMs = await lockEmail(transaction, email);
    const share = await chooseAllowance(transaction, requester, nowMs);
    const code = share === "long" ? makeLongCode() : String(randomInt(1_000_000)).padStart(6, "0");
    const isInMailbox = share === "long" && longUntilMs > nowMs;
    const untilMs = isInMailbox ? longUntilMs : nowMs + (share === "long" ? longCodeMs : codeMs);
    await transaction
      .insertInto("sign_in_codes")
      .values({
        browser_hash: hashBrowser(browser),
        email,
        code_hash: share === "long" ? "" : hashCode(browser, code),
        tries: 0,
        created_at_ms: nowMs,
        expires_at_ms: untilMs,
        share,
        asker_hash: address ?? null,
      })
      .execute();
    if (isInMailbox) return { browser, code: undefined, untilMs };
    if (share === "long") await keepLongCode(transaction, email, code, untilMs);
    const mail = { kind: "code", to: email, code, isLong: share === "long" } as const;
    await postSignInMail(transaction, mail, { nowMs, untilMs });
    return { browser, code, untilMs };
  });
}

function makeLongCode(): string {
  return Array.from({ length: longCharacters }, () => longAlphabet[randomInt(longAlphabet.length)]).join("");
}

async function keepLongCode(transaction: Db, email: string, code: string, untilMs: number): Promise<void> {
  await transaction
    .updateTable("sign_in_emails")
    .set({ long_code_hash: hashCode(email, code), long_code_until_ms: untilMs })
    .where("email", "=", email)
    .execute();
}

/** The code that a browser has asked for, while it can be redeemed. */
export async function findRequestedCode(
  db: Db,
  browser: string,
  nowMs: number,
): Promise<RequestedCode | undefined> {
  const row = await db
    .selectFrom("sign_in_codes")
    .leftJoin("sign_in_emails", "sign_in_emails.email", "sign_in_codes.email")
    .select(["sign_in_codes.email", "share", "created_at_ms", "expires_at_ms", "long_code_until_ms"])
    .where("browser_hash", "=", hashBrowser(browser))
    .where("expires_at_ms", ">", nowMs)
    .where("tries", "<", maxTries)
    .executeTakeFirst();
  if (!row) return undefined;
  const isLong = row.share === "long";
  // Redeemed in another browser, or even replaced since.
  if (isLong && row.long_code_until_ms !== row.expires_at_ms) return undefined;
  const untilMs = row.expires_at_ms;
  const postedAtMs = isLong ? untilMs - longCodeMs : row.created_at_ms;
  return { email: row.email, isLong, postedAtMs, untilMs };
}

/** Redeems a code: once, in a browser that asked for it, while it lasts and within five tries. */
export async function redeemCode(db: Db, browser: string, typed: string, nowMs: number): Promise<Redeemed> {
  const asked = await findRequestedCode(db, browser, nowMs);
  if (!asked) return { problem: "over" };
  const code = readCode(typed, asked.isLong);
  if (!code) return { problem: "form" };
  const browserHash = hashBrowser(browser);
  // The try is counted before it is judged, so that tries at once are no more than tries in turn.
  const row = await db
    .updateTable("sign_in_codes")
    .set((column) => ({ tries: column("tries", "+", 1) }))
    .where("browser_hash", "=", browserHash)
    .where("expires_at_ms", ">", nowMs)
    .where("tries", "<", maxTries)
    .returning(["code_hash", "tries"])
    .executeTakeFirst();
  if (!row) return { problem: "over" };
  const { email, isLong } = asked;
  if (isLong && (await consumeLongCode(db, email, code))) return { email };
  if (!isLong && isSameSecret(hashCode(browser, code), row.code_hash)) {
    return (await consumeShortCode(db, browserHash)) ? { email } : { problem: "over" };
  }
  const triesLeft = maxTries - row.tries;
  return triesLeft > 0 ? { problem: "wrong", triesLeft } : { problem: "over" };
}

/** A long code as people read it: in groups of four. */
export function groupLongCode(code: string): string {
  return code.replace(/(.{4})(?=.)/g, "$1-");
}

/** A code as it was made, of one that was typed or pasted with blanks, dashes or small letters. */
function readCode(typed: string, isLong: boolean): string | undefined {
  const plain = typed.replace(/[\s-]/g, "").toUpperCase();
  if (!isLong) return /^\d{6}$/.test(plain) ? plain : undefined;
  const read = plain.replaceAll("O", "0").replace(/[IL]/g, "1");
  return read.length === longCharacters && [...read].every((letter) => longAlphabet.includes(letter))
    ? read
    : undefined;
}

/** Of two that redeem it at once, one does. */
async function consumeShortCode(db: Db, browserHash: string): Promise<boolean> {
  const taken = await db
    .deleteFrom("sign_in_codes")
    .where("browser_hash", "=", browserHash)
    .returning("email")
    .executeTakeFirst();
  return taken !== undefined;
}

async function consumeLongCode(db: Db, email: string, code: string): Promise<boolean> {
  const taken = await db
    .deleteFrom("sign_in_emails")
    .where("email", "=", email)
    .where("long_code_hash", "=", hashCode(email, code))
    .returning("email")
    .executeTakeFirst();
  return taken !== undefined;
}

function hashBrowser(browser: string): string {
  return createHash("sha256").update(`corner-office:sign-in:v1:${browser}`).digest("base64url");
}

/** @param salt - what a code is for: a browser's secret, or an email */
function hashCode(salt: string, code: string): string {
  return createHmac("sha256", derivedKeys("sign-in-code:v1")[0])
    .update(`${salt}.${code}`)
    .digest("base64url");
}
