import { sql } from "kysely";
import { dayMs } from "@/lib/config/durations";
import type { Db } from "@/lib/db/store";

/*
 * There are two codes. The short one, six figures, is for the browser that asked. It can be guessed, so an email has
 * a few of them a day, with five tries each: five for browsers that it does not know (three for one address), and ten
 * more for browsers that signed in to it before. Somebody who guesses at one email all day long meets a code with a
 * chance of 25 in a million, one in 40,000; somebody who stole a browser's proof, with 50 in a million. A code that is
 * redeemed was its owner's, and counts no more.
 *
 * Whoever asks past that gets the long code: twelve of 32 letters and figures, too many to guess. It works once, in
 * every browser that asked for this email, and is mailed once in six hours, whoever asks and however often, so that a
 * live one lies in the mailbox at all times. That is how the owner of an email that strangers flood signs in from a
 * new browser: what they ask never uses it up.
 *
 * So strangers can have ten mails sent to one address in 24 hours: five with a short code and five with a long one;
 * and one more each time its owner has redeemed a long one.
 */

/** Short codes of one email in 24 hours. */
const maxShortCodes = { knownBrowsers: 10, strangers: 5, oneAddress: 3 };

const maxSwept = 5000;

/** From whose share of an email's short codes one is taken; the long code is nobody's. */
export type CodeAllowance = "known" | "stranger" | "long";

/** Who asks for a code. */
export type CodeRequester = {
  email: string;
  /** The asking address, hashed; none where it is not known. */
  address?: string | undefined;
  /** Whether this browser signed in to this email before. */
  isKnown?: boolean;
};

/** Whoever asks for the same email waits here, so that its shares hold exactly. Answers when its long code ends. */
export async function lockEmail(transaction: Db, email: string): Promise<number> {
  const row = await transaction
    .insertInto("sign_in_emails")
    .values({ email, long_code_hash: "", long_code_until_ms: 0 })
    .onConflict((conflict) => conflict.column("email").doUpdateSet({ email }))
    .returning("long_code_until_ms")
    .executeTakeFirstOrThrow();
  return row.long_code_until_ms;
}

/** Clears away what is over: of each kind so much at most, which is more than comes in between two sweeps. */
export async function sweepCodes(db: Db, nowMs: number): Promise<void> {
  const codes = db.selectFrom("sign_in_codes").select("browser_hash");
  const oldCodes = codes.where("created_at_ms", "<=", nowMs - dayMs).limit(maxSwept);
  await db
    .deleteFrom("sign_in_codes")
    .where("browser_hash", "in", oldCodes.forUpdate().skipLocked())
    .execute();
  const emails = db.selectFrom("sign_in_emails").select("email");
  const oldEmails = emails.where("long_code_until_ms", "<=", nowMs).limit(maxSwept);
  await db.deleteFrom("sign_in_emails").where("email", "in", oldEmails.forUpdate().skipLocked()).execute();
}

/** From whose share of the short codes the next one is taken; the long code when there is none left. */
export async function chooseAllowance(
  transaction: Db,
  { email, address = "", isKnown = false }: CodeRequester,
  nowMs: number,
): Promise<CodeAllowance> {
  const rows = await transaction
    .selectFrom("sign_in_codes")
    .select((expression) => [
      "share",
      expression.fn.countAll<number>().as("all"),
      sql<number>`count(CASE WHEN asker_hash = ${address} THEN 1 END)`.as("from_address"),
    ])
    .where("email", "=", email)
    .where("share", "in", ["known", "stranger"])
    .where("created_at_ms", ">", nowMs - dayMs)
    .groupBy("share")
    .execute();
  const spent = (share: string) => rows.find((row) => row.share === share) ?? { all: 0, from_address: 0 };
  if (isKnown && Number(spent("known").all) < maxShortCodes.knownBrowsers) return "known";
  const { all, from_address } = spent("stranger");
  const mayBeShort = Number(all) < maxShortCodes.strangers && Number(from_address) < maxShortCodes.oneAddress;
  return mayBeShort ? "stranger" : "long";
}
