import { randomInt } from "node:crypto";
import type { Selectable } from "kysely";
import {
  areCodesLonger,
  type CodeRequester,
  chooseAllowance,
  lockEmail,
} from "@/lib/auth/codes/sign-in-code-limits";
import { codeMinutes, longCodeHours } from "@/lib/config/lifetimes";
import { frequentStatement } from "@/lib/db/frequent-statement";
import { hasRow } from "@/lib/db/has-row";
import type { Db } from "@/lib/db/store";
import type { Tables } from "@/lib/db/tables";
import { transact } from "@/lib/db/transaction";
import { findSixDigits, readTypedCode } from "@/lib/http/typed-code";
import { enqueueMail } from "@/lib/mail/outbox/outbox";
import { isSameSecret, keyedHash, keyedHashes } from "@/lib/runtime/keyed-hash";
import { hashSecret, mintSecret } from "@/lib/runtime/secret";

export const maxTries = 5;

const codeMs = codeMinutes * 60 * 1000;
const longCodeMs = longCodeHours * 60 * 60 * 1000;

/** Crockford's base 32, which has no letter that looks like a digit. */
const longAlphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const codeCharacters = { short: 6, longer: 8, long: 12 } as const; // 20, 40 and 60 bits

/** The purpose of a code's hash, which is of the code and its browser's secret, or its email if the code is long. */
const purpose = "sign-in-code:v1";

/** A code that a browser has requested and can still redeem. */
export type RequestedCode = {
  email: string;
  isLong: boolean;
  characters: number;
  postedAtMs: number;
  untilMs: number;
};

/**
 * Why a code can no longer be redeemed: its time, its fifth wrong try, because it was redeemed or replaced, or because codes
 * have to be longer for now.
 */
export type CodeEnd = "expired" | "tries" | "used" | "longer";

/** The result of typing a code. A malformed code does not count as an attempt. */
export type Redeemed =
  | { email: string }
  | { problem: "form" | CodeEnd }
  | { problem: "wrong"; triesLeft: number };

/**
 * Makes a code for an email and queues its mail. It does so whether or not the email has an account, so that both cases
 * take the same time. Returns the secret that binds the code to this browser, of which only a hash is stored, and no
 * code if the long one was mailed already. Codes are stored as keyed hashes, because a million plain hashes are quickly
 * tried.
 */
export async function makeCode(
  db: Db,
  requester: CodeRequester,
  nowMs: number,
): Promise<{ browser: string; code: string | undefined }> {
  const { email, address } = requester;
  const browser = mintSecret();
  return transact(db, async (transaction) => {
    const longUntilMs = await lockEmail(transaction, email);
    const share = await chooseAllowance(transaction, requester, nowMs);
    const isLonger = share === "stranger" && (await areCodesLonger(transaction, nowMs));
    const characters = codeCharacters[share === "long" ? "long" : isLonger ? "longer" : "short"];
    const code = makeCodeOf(characters);
    const isAlreadyMailed = share === "long" && longUntilMs > nowMs;
    const untilMs = isAlreadyMailed ? longUntilMs : nowMs + (share === "long" ? longCodeMs : codeMs);
    const codeHash = share === "long" ? "" : keyedHash(purpose, `${browser}.${code}`);
    await insertCode(transaction, {
      browser_hash: hashSecret("sign-in", browser),
      email,
      code_hash: codeHash,
      share,
      characters,
      tries: 0,
      created_at_ms: nowMs,
      expires_at_ms: untilMs,
      asker_hash: address ?? null,
    });
    if (isAlreadyMailed) return { browser, code: undefined };
    if (share === "long") {
      await transaction
        .updateTable("sign_in_emails")
        .set({ long_code_hash: keyedHash(purpose, `${email}.${code}`), long_code_until_ms: untilMs })
        .where("email", "=", email)
        .execute();
    }
    const mail = {
      kind: "code",
      to: email,
      code,
      isLong: share === "long",
      browser: requester.browser,
    } as const;
    await enqueueMail(transaction, mail, { nowMs, untilMs });
    return { browser, code };
  });
}

const insertCode = frequentStatement((db, code: Omit<Selectable<Tables["sign_in_codes"]>, "tried_at_ms">) =>
  db.insertInto("sign_in_codes").values(code),
);

function makeCodeOf(characters: number): string {
  const alphabet = characters === codeCharacters.short ? "0123456789" : longAlphabet;
  return Array.from({ length: characters }, () => alphabet[randomInt(alphabet.length)]).join("");
}

/** The code that a browser has requested, or why it can no longer be redeemed. */
export async function findRequestedCode(
  db: Db,
  browser: string,
  nowMs: number,
): Promise<RequestedCode | { ended: CodeEnd }> {
  const { rows } = await readCode(db, hashSecret("sign-in", browser));
  return judge(db, rows[0], nowMs);
}

const selectCode = (db: Db, browserHash: string) =>
  db
    .selectFrom("sign_in_codes")
    .leftJoin("sign_in_emails", "sign_in_emails.email", "sign_in_codes.email")
    .select(["sign_in_codes.email", "share", "characters", "tries", "created_at_ms", "expires_at_ms"])
    .select(["code_hash", "long_code_until_ms"])
    .where("browser_hash", "=", browserHash);
const readCode = frequentStatement(selectCode);
const lockCode = frequentStatement((db, browserHash: string) =>
  selectCode(db, browserHash).forUpdate("sign_in_codes"),
);

type CodeRow = Awaited<ReturnType<typeof readCode>>["rows"][number];

async function judge(
  db: Db,
  row: CodeRow | undefined,
  nowMs: number,
): Promise<RequestedCode | { ended: CodeEnd }> {
  if (!row) return { ended: "used" };
  if (row.tries >= maxTries) return { ended: "tries" };
  if (row.expires_at_ms <= nowMs) return { ended: "expired" };
  const isLong = row.share === "long";
  // The long code was redeemed in another browser, or replaced since.
  if (isLong && row.long_code_until_ms !== row.expires_at_ms) return { ended: "used" };
  const characters = row.characters ?? codeCharacters.short;
  const isGuessed = row.share === "stranger" && characters === codeCharacters.short;
  if (isGuessed && (await areCodesLonger(db, nowMs))) return { ended: "longer" };
  const untilMs = row.expires_at_ms;
  const postedAtMs = isLong ? untilMs - longCodeMs : row.created_at_ms;
  return { email: row.email, isLong, characters, postedAtMs, untilMs };
}

/**
 * Redeems a code: once, in a browser that requested it, before it expires and within five attempts. Attempts of a browser
 * take turns, so that concurrent ones cannot exceed the limit.
 *
 * @param browsers - the secrets of the codes that the browser has requested for this email, the newest first: a mail that is
 * late brings an earlier one. An attempt counts for each
 */
export function redeemCode(
  db: Db,
  browsers: readonly [string, ...string[]],
  typed: string,
  nowMs: number,
): Promise<Redeemed> {
  return transact(db, async (transaction) => {
    const [newest, ...earlier] = browsers;
    const [row] = (await lockCode(transaction, hashSecret("sign-in", newest))).rows;
    const redeemed = await tryCode(transaction, newest, row, typed, nowMs);
    if (!("problem" in redeemed && redeemed.problem === "wrong")) return redeemed;
    for (const browser of earlier) {
      const [other] = (await lockCode(transaction, hashSecret("sign-in", browser))).rows;
      if (other?.email !== row?.email) continue;
      const late = await tryCode(transaction, browser, other, typed, nowMs);
      if ("email" in late) return late;
    }
    return redeemed;
  });
}

async function tryCode(
  transaction: Db,
  browser: string,
  row: CodeRow | undefined,
  typed: string,
  nowMs: number,
): Promise<Redeemed> {
  const requested = await judge(transaction, row, nowMs);
  if (!row || "ended" in requested) return { problem: "ended" in requested ? requested.ended : "used" };
  const { email, isLong, characters } = requested;
  const code = parseCode(typed, characters);
  if (!code) return { problem: "form" };
  const browserHash = hashSecret("sign-in", browser);
  const hashes = keyedHashes(purpose, `${isLong ? email : browser}.${code}`);
  if (!isLong && hashes.some((hash) => isSameSecret(hash, row.code_hash))) {
    await deleteCode(transaction, browserHash);
    return { email };
  }
  await countTry(transaction, browserHash, nowMs);
  if (isLong && (await takeLongCode(transaction, email, hashes))) return { email };
  const triesLeft = maxTries - row.tries - 1;
  return triesLeft > 0 ? { problem: "wrong", triesLeft } : { problem: "tries" };
}

const deleteCode = frequentStatement((db, browserHash: string) =>
  db.deleteFrom("sign_in_codes").where("browser_hash", "=", browserHash),
);

async function countTry(transaction: Db, browserHash: string, nowMs: number): Promise<void> {
  await transaction
    .updateTable("sign_in_codes")
    .set((column) => ({ tries: column("tries", "+", 1), tried_at_ms: nowMs }))
    .where("browser_hash", "=", browserHash)
    .execute();
}

/** Deletes the long code, so that only one of several browsers redeems it. Returns whether it was one of these. */
function takeLongCode(transaction: Db, email: string, hashes: string[]): Promise<boolean> {
  const longCode = transaction.deleteFrom("sign_in_emails").where("email", "=", email);
  return hasRow(longCode.where("long_code_hash", "in", hashes).returning("email"));
}

/** The code that was typed; `undefined` if it is malformed. */
function parseCode(typed: string, characters: number): string | undefined {
  if (characters === codeCharacters.short) return findSixDigits(typed);
  const read = readTypedCode(typed).replaceAll("O", "0").replace(/[IL]/g, "1");
  return read.length === characters && [...read].every((letter) => longAlphabet.includes(letter))
    ? read
    : undefined;
}
