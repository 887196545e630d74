import { eraseMailFiles, erasure } from "@/lib/accounts/erased-mails";
import { ApiError } from "@/lib/api/errors";
import { hashEmail } from "@/lib/onboarding/suppressions";
import { settings } from "@/lib/settings/settings";
import { dropSignInMailsTo } from "@/lib/sign-in/sign-in-outbox";
import { change, renameInAudit } from "@/lib/store/audit";
import { findMentions, replaceMention } from "@/lib/store/mentions";
import { sweepDrafts } from "@/lib/store/snapshot";
import { type Db, forgetDeletedRows } from "@/lib/store/store";

/**
 * Takes a person's address out of every table, in one transaction, and out of the mails in `DATA_DIR`, and ends the
 * sessions. The ledger stays with an account that is nobody's and may not run; so does, as a hash, that the address
 * wants no mail. Throws an {@link ApiError} when nothing is kept of the address.
 */
export async function erasePerson(db: Db, email: string, nowMs: number): Promise<void> {
  const hash = hashEmail(email);
  // The entry of the erasure itself must not hold what was erased.
  const about = { by: "operator", what: erasure, whom: hash, look: async () => null } as const;
  const named = await findNamed(db, email);
  await change(db, about, nowMs, async (transaction) => {
    const account = await transaction
      .selectFrom("accounts")
      .select("id")
      .where("email", "=", email)
      .executeTakeFirst();
    const found = [
      account !== undefined,
      await dropSignInMailsTo(transaction, email),
      ...(await Promise.all(
        (["waitlist", "invitations", "sign_in_codes", "sign_in_emails"] as const).map(async (table) => {
          const gone = await transaction
            .deleteFrom(table)
            .where("email", "=", email)
            .returning("email")
            .execute();
          return gone.length > 0;
        }),
      )),
    ];
    if (account) await closeAccount(transaction, account.id, nowMs);
    const users = await transaction
      .updateTable("clerk_users")
      .set({ email: "", is_deleted: 1 })
      .where("email", "=", email)
      .returning("id")
      .execute();
    found.push(users.length > 0, await rename(transaction, named, email, hash));
    if (!found.includes(true)) throw nothingKept();
  });
  const namedMeanwhile = await findNamed(db, email);
  await change(db, about, nowMs, (transaction) => rename(transaction, namedMeanwhile, email, hash));
  await eraseMailFiles(settings().dataDir, new Map([[hash, nowMs]]));
  sweepDrafts(settings().dataDir);
  forgetDeletedRows();
}

type Named = { entries: string[]; reasons: string[] };

/** Where the address stands in the audit, and in what operators wrote into ledgers, this person's and others'. */
async function findNamed(db: Db, email: string): Promise<Named> {
  return {
    entries: await findMentions(db, "audit_entries", email),
    reasons: await findMentions(db, "credit_entries", email),
  };
}

/** Takes the address out of these. Answers whether it was there. */
async function rename(
  transaction: Db,
  { entries, reasons }: Named,
  email: string,
  hash: string,
): Promise<boolean> {
  let isNamed = await renameInAudit(transaction, entries, email, hash);
  for (const id of reasons) {
    const entry = await transaction
      .selectFrom("credit_entries")
      .select("reason")
      .where("id", "=", id)
      .executeTakeFirst();
    const reason = entry && replaceMention(entry.reason, email, "(erased)");
    if (!entry || reason === entry.reason) continue;
    await transaction.updateTable("credit_entries").set({ reason }).where("id", "=", id).execute();
    isNamed = true;
  }
  return isNamed;
}

/** Leaves an account, for its ledger and the links in its mails, that is nobody's. */
async function closeAccount(transaction: Db, id: string, nowMs: number): Promise<void> {
  await transaction
    .updateTable("accounts")
    .set({
      email: `${id.toLowerCase()}@erased.invalid`, // RFC 2606 §2: no such host can be
      subject: null,
      plan: "trial",
      trial_ends_at_ms: nowMs,
    })
    .where("id", "=", id)
    .execute();
  await transaction.deleteFrom("local_sessions").where("account_id", "=", id).execute();
  await transaction.deleteFrom("connect_state").where("payload", "like", `%"${id}"%`).execute();
  await transaction
    .updateTable("onboarding_emails")
    .set({ state: "stopped" })
    .where("account_id", "=", id)
    .where("state", "=", "scheduled")
    .execute();
}

function nothingKept(): ApiError {
  return new ApiError("not_found", {
    message: "Nothing is kept of this email.",
    hint: "Look whether it is spelled right.",
  });
}
