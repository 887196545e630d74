import { createHash, createHmac, randomBytes, randomInt, timingSafeEqual } from "node:crypto";
import { derivedKeys } from "@/lib/process/app-secret";
import { postSignInMail } from "@/lib/sign-in/sign-in-outbox";
import type { Db } from "@/lib/store/store";

export const codeMinutes = 10;
export const mostTries = 5;
/** Codes of one email in an hour: with five tries each, a guesser reaches one in 40,000 a hour. */
const mostCodesPerHour = 5;

const codeMs = codeMinutes * 60 * 1000;
const hourMs = 60 * 60 * 1000;

/** What became of a code that somebody typed. */
export type Redeemed = { email: string } | { problem: "wrong"; triesLeft: number } | { problem: "over" };

/**
 * Makes a code for an email, and posts the mail that brings it, whether or not it has an account, so that both take
 * the same work and time. Answers the secret that binds it to the asking browser; `undefined` when the email had its
 * share. The secret is stored nowhere, the code as a keyed hash, because a million of them are soon tried.
 */
export async function makeCode(
  db: Db,
  email: string,
  nowMs: number,
): Promise<{ code: string; browser: string } | undefined> {
  const code = String(randomInt(1_000_000)).padStart(6, "0");
  const browser = randomBytes(32).toString("base64url");
  return db.transaction().execute(async (transaction) => {
    await transaction
      .deleteFrom("sign_in_codes")
      .where("created_at_ms", "<=", nowMs - hourMs)
      .execute();
    const { made } = await transaction
      .selectFrom("sign_in_codes")
      .select((expression) => expression.fn.countAll<number>().as("made"))
      .where("email", "=", email)
      .executeTakeFirstOrThrow();
    if (Number(made) >= mostCodesPerHour) return undefined;
    await transaction
      .insertInto("sign_in_codes")
      .values({
        browser_hash: hashBrowser(browser),
        email,
        code_hash: hashCode(browser, code),
        tries: 0,
        created_at_ms: nowMs,
        expires_at_ms: nowMs + codeMs,
      })
      .execute();
    await postSignInMail(transaction, { kind: "code", to: email, code }, { nowMs, untilMs: nowMs + codeMs });
    return { code, browser };
  });
}

/** The email that a browser asked a code for, while the code can still be redeemed. */
export async function findCodeEmail(db: Db, browser: string, nowMs: number): Promise<string | undefined> {
  const row = await db
    .selectFrom("sign_in_codes")
    .select("email")
    .where("browser_hash", "=", hashBrowser(browser))
    .where("expires_at_ms", ">", nowMs)
    .where("tries", "<", mostTries)
    .executeTakeFirst();
  return row?.email;
}

/** Redeems a code: once, in the browser that asked for it, within ten minutes and five tries. */
export async function redeemCode(db: Db, browser: string, code: string, nowMs: number): Promise<Redeemed> {
  const browserHash = hashBrowser(browser);
  // The try is counted before it is judged, so that tries at once are no more than tries in turn.
  const row = await db
    .updateTable("sign_in_codes")
    .set((column) => ({ tries: column("tries", "+", 1) }))
    .where("browser_hash", "=", browserHash)
    .where("expires_at_ms", ">", nowMs)
    .where("tries", "<", mostTries)
    .returning(["email", "code_hash", "tries"])
    .executeTakeFirst();
  if (!row) return { problem: "over" };
  if (!timingSafeEqual(Buffer.from(row.code_hash), Buffer.from(hashCode(browser, code)))) {
    const triesLeft = mostTries - row.tries;
    return triesLeft > 0 ? { problem: "wrong", triesLeft } : { problem: "over" };
  }
  // It stays, used up, and counts towards its email's share.
  const used = await db
    .updateTable("sign_in_codes")
    .set({ expires_at_ms: nowMs })
    .where("browser_hash", "=", browserHash)
    .where("expires_at_ms", ">", nowMs)
    .returning("email")
    .executeTakeFirst();
  return used ?? { problem: "over" };
}

function hashBrowser(browser: string): string {
  return createHash("sha256").update(`corner-office:sign-in:v1:${browser}`).digest("base64url");
}

function hashCode(browser: string, code: string): string {
  return createHmac("sha256", derivedKeys("sign-in-code:v1")[0])
    .update(`${browser}.${code}`)
    .digest("base64url");
}
