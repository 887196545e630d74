import { hourMs } from "@/lib/config/durations";
import type { Db } from "@/lib/db/store";

/**
 * What bounds guessing at all emails together, from however many networks: after so many wrong codes in an hour that were
 * not followed by the right one, six digits are not enough for a browser that is not known. The next codes have eight
 * characters, and those with six are no longer taken. So at most 720 of a million codes are guessed at in a day. Known
 * browsers are left out: a stranger has no such cookie.
 */
const maxWrongCodes = 30;

/** Counts the wrong codes of unknown browsers in the last hour, up to a little more than {@link maxWrongCodes}. */
export async function countWrongCodes(db: Db, nowMs: number): Promise<number> {
  const tried = await db
    .selectFrom("sign_in_codes")
    .select("tries")
    .where("tried_at_ms", ">", nowMs - hourMs)
    .where("share", "=", "stranger")
    .limit(maxWrongCodes)
    .execute();
  return tried.reduce((sum, { tries }) => sum + tries, 0);
}

/** Whether codes for unknown browsers have to be longer now. */
export async function areCodesLonger(db: Db, nowMs: number): Promise<boolean> {
  return (await countWrongCodes(db, nowMs)) >= maxWrongCodes;
}
