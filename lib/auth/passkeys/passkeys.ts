import { randomBytes } from "node:crypto";
import { CeremonyError, type Credential } from "@/lib/auth/passkeys/passkey-ceremony";
import { consumeChallenge, type PasskeySite } from "@/lib/auth/passkeys/passkey-exchange";
import { asIso } from "@/lib/config/instants";
import { settings } from "@/lib/config/settings";
import { lockAccount } from "@/lib/db/account-by";
import { type Actor, auditedTransaction } from "@/lib/db/audit";
import { hasRow } from "@/lib/db/has-row";
import type { Db } from "@/lib/db/store";
import { ApiError } from "@/lib/http/errors";
import { enqueueMail } from "@/lib/mail/outbox/outbox";

export const maxPasskeys = 10;
export const maxNameCharacters = 60;

/** A passkey as its owner sees it. `Tables` says what each column is. */
export type Passkey = Awaited<ReturnType<typeof listPasskeys>>[number];

type PasskeyAccount = { id: string; email: string };

/** Where owners use passkeys: the host of `APP_URL` or `PASSKEY_HOST`, and pages at exactly `APP_URL`. */
export function ownersSite(): PasskeySite {
  const { appUrl, passkeyHost } = settings();
  return {
    id: passkeyHost ?? new URL(appUrl).hostname,
    name: "Corner Office",
    origin: appUrl,
    table: "passkeys",
    cookie: "office-passkey",
  };
}

/** The passkeys of an account, oldest first. */
export const listPasskeys = (db: Db, accountId: string) => passkeysOf(db, accountId).execute();

/** The query of their rows. */
export function passkeysOf(db: Db, accountId: string) {
  return db
    .selectFrom("passkeys")
    .select(["id", "name", "credential_id", "rp_id", "added_at_ms", "last_used_at_ms"])
    .where("account_id", "=", accountId)
    .orderBy("added_at_ms")
    .orderBy("id");
}

/** A passkey as its owner's export and the operator's list name its parts. */
export function describePasskey({ name, rp_id, added_at_ms, last_used_at_ms }: Omit<Passkey, "id">) {
  return { name, host: rp_id, addedAt: asIso(added_at_ms), lastUsedAt: asIso(last_used_at_ms) };
}

/**
 * Adds a passkey and queues the mail about it. Throws an {@link ApiError}: a credential belongs to one account, an account
 * has ten at most, and a challenge works once.
 */
export function addPasskey(
  db: Db,
  account: PasskeyAccount,
  { credential, challenge, name }: { credential: Credential; challenge: string; name: string },
  nowMs: number,
): Promise<void> {
  return changePasskeys(db, { by: "owner", what: "passkey add" }, account, nowMs, async (transaction) => {
    // Concurrent additions to the same account take turns, so that they cannot exceed the maximum.
    await lockAccount(transaction, account.id);
    if ((await listPasskeys(transaction, account.id)).length >= maxPasskeys) throw hasTooMany;
    if (!(await consumeChallenge(transaction, challenge, nowMs)))
      throw new CeremonyError("the challenge was used before");
    const added = await transaction
      .insertInto("passkeys")
      .values({
        id: `pass_${randomBytes(8).toString("hex")}`,
        account_id: account.id,
        ...credential,
        name,
        added_at_ms: nowMs,
      })
      .onConflict((conflict) => conflict.column("credential_id").doNothing())
      .returning("id")
      .executeTakeFirst();
    if (!added) throw new CeremonyError("the passkey is of an account already");
    const mail = { kind: "passkey", to: account.email, change: "added", name, atMs: nowMs } as const;
    await enqueueMail(transaction, mail, { nowMs });
  });
}

/** An account has ten passkeys. */
export const hasTooMany = new ApiError("forbidden", {
  status: 409,
  message: `This account has ${maxPasskeys} passkeys already.`,
  hint: "Remove one that you no longer use.",
});

/** Renames a passkey of the account. Returns whether it has that one. */
export function renamePasskey(
  db: Db,
  account: PasskeyAccount,
  { id, name }: { id: string; name: string },
  nowMs: number,
): Promise<boolean> {
  return changePasskeys(db, { by: "owner", what: "passkey rename" }, account, nowMs, (transaction) => {
    const renaming = transaction.updateTable("passkeys").set({ name }).where("id", "=", id);
    return hasRow(renaming.where("account_id", "=", account.id).returning("id"));
  });
}

/** Removes one passkey of the account or all, and queues a mail about each. Returns how many there were. */
export function removePasskeys(
  db: Db,
  {
    by,
    account,
    which,
  }: { by: "owner" | "operator"; account: PasskeyAccount; which: "all" | { id: string } },
  nowMs: number,
): Promise<number> {
  return changePasskeys(db, { by, what: "passkey remove" }, account, nowMs, async (transaction) => {
    let deletion = transaction.deleteFrom("passkeys").where("account_id", "=", account.id);
    if (which !== "all") deletion = deletion.where("id", "=", which.id);
    const removed = await deletion.returning("name").execute();
    for (const { name } of removed) {
      const mail = { kind: "passkey", to: account.email, change: "removed", name, atMs: nowMs } as const;
      await enqueueMail(transaction, mail, { nowMs });
    }
    return removed.length;
  });
}

/** The query of a row if the owner has put the offer of a passkey away. */
export function declinedOffers(db: Db, accountId: string) {
  return db.selectFrom("passkey_offers").select("account_id").where("account_id", "=", accountId);
}

/** Puts the offer of a passkey away for good. */
export async function declinePasskeys(db: Db, account: PasskeyAccount, nowMs: number): Promise<void> {
  await changePasskeys(db, { by: "owner", what: "passkey decline" }, account, nowMs, (transaction) =>
    transaction
      .insertInto("passkey_offers")
      .values({ account_id: account.id, declined_at_ms: nowMs })
      .onConflict((conflict) => conflict.column("account_id").doNothing())
      .execute(),
  );
}

/** Changes an account's passkeys. The audit has no names: their owners choose them. */
function changePasskeys<T>(
  db: Db,
  source: { by: Actor; what: string },
  { id, email }: PasskeyAccount,
  nowMs: number,
  change: (transaction: Db) => Promise<T>,
): Promise<T> {
  const readState = async (transaction: Db) => {
    const passkeys = await listPasskeys(transaction, id);
    return Object.fromEntries(passkeys.map(({ id, added_at_ms }) => [id, { addedAt: asIso(added_at_ms) }]));
  };
  return auditedTransaction(db, { ...source, whom: email, readState }, nowMs, change);
}
