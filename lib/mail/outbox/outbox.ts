import { randomUUID } from "node:crypto";
import { type Selectable, sql } from "kysely";
import * as z from "zod";
import { frequentStatement } from "@/lib/db/frequent-statement";
import { listOf } from "@/lib/db/row-list";
import type { Db } from "@/lib/db/store";
import type { Tables } from "@/lib/db/tables";
import { triedForMs } from "@/lib/mail/kind";
import { kindNames, mailKinds, type QueuedMail } from "@/lib/mail/kinds";
import { isOfKind, takeDueRows } from "@/lib/mail/outbox/due-rows";
import type { ClaimOptions } from "@/lib/mail/outbox/outbox-runner";
import { seal, sealedBy, unseal } from "@/lib/runtime/seal";

/** A mail that only this runner may send, until its lease expires. */
export type ClaimedMail = NonNullable<Awaited<ReturnType<typeof claimMails>>>[number];

/**
 * Adds a mail to the outbox, encrypted with `APP_SECRET`, in the transaction that creates its code, invitation or
 * session, changes the passkeys, or notes that it was due.
 *
 * @param id - if the outbox has a mail with this id, it keeps that one
 * @param untilMs - after when it is not sent (Unix milliseconds): its code or link has expired, or its kind is not tried longer
 * @returns the mail's id
 */
export async function enqueueMail(
  transaction: Db,
  mail: QueuedMail,
  {
    id = randomUUID(),
    nowMs,
    dueAtMs = nowMs,
    untilMs = nowMs + (mailKinds.get(mail.kind)?.triedForMs ?? triedForMs),
  }: { id?: string | undefined; nowMs: number; dueAtMs?: number; untilMs?: number },
): Promise<string> {
  const times = { next_attempt_at_ms: dueAtMs, expires_at_ms: untilMs };
  await insertMail(transaction, { id, kind: mail.kind, sealed: sealMail(id, mail), ...times });
  return id;
}

const insertMail = frequentStatement((db, mail: Omit<Selectable<Tables["sign_in_mails"]>, "attempts">) =>
  db
    .insertInto("sign_in_mails")
    .values(mail)
    .onConflict((conflict) => conflict.column("id").doNothing()),
);

/**
 * Claims due mails for this runner, either the scheduled ones or the others. Codes for emails without an account are
 * deleted first, so that they keep no one waiting.
 */
export async function claimMails(
  db: Db,
  { limit, leaseUntilMs, nowMs, isSettling = false }: ClaimOptions,
  isScheduled: boolean,
) {
  if (!isScheduled) await deleteStrangersCodes(db, nowMs);
  const due = db
    .selectFrom("sign_in_mails")
    .select("id")
    .where("next_attempt_at_ms", "<=", nowMs)
    .where(isOfKind(kindNames[isScheduled ? "scheduled" : "others"]))
    .$if(isSettling, (query) => query.where("attempts", "=", 0))
    .orderBy("next_attempt_at_ms");
  const change = { next_attempt_at_ms: leaseUntilMs, attempts: sql<number>`attempts + 1` };
  const rows = await takeDueRows(db, "sign_in_mails", { due, limit, change });
  return rows?.map(({ sealed, expires_at_ms: triedUntilMs, ...row }) => {
    return { ...row, mail: openMail(row.id, row.kind, sealed), leaseUntilMs, triedUntilMs };
  });
}

const sifted = 500;

/** Deletes due codes for emails without an account: up to 500 in one statement, until a batch has none. */
async function deleteStrangersCodes(db: Db, nowMs: number): Promise<void> {
  for (let isMore = true; isMore; ) {
    const { rows } = await readNewCodes(db, nowMs);
    const mails = rows.map(({ id, sealed }) => ({ id, to: recipientOf(id, sealed) }));
    const emails = new Set(mails.flatMap(({ to }) => to ?? []));
    if (emails.size === 0) return;
    for (const { email } of (await readOwners(db, [...emails])).rows) emails.delete(email);
    const ids = mails.flatMap(({ id, to }) => (to !== undefined && emails.has(to) ? id : []));
    if (ids.length > 0) await db.deleteFrom("sign_in_mails").where("id", "in", ids).execute();
    isMore = ids.length > 0 && rows.length === sifted;
  }
}

const readNewCodes = frequentStatement((db, nowMs: number) =>
  db
    .selectFrom("sign_in_mails")
    .select(["id", "sealed"])
    .where("kind", "=", "code")
    .where("attempts", "=", 0)
    .where("next_attempt_at_ms", "<=", nowMs)
    .orderBy("next_attempt_at_ms")
    .limit(sifted),
);

const readOwners = frequentStatement((db, emails: readonly string[]) =>
  db
    .selectFrom("accounts")
    .select("email")
    .where("email", "in", listOf(db, emails))
    .where("subject", "is not", null),
);

/** Deletes every mail to an address, in the caller's transaction. Returns whether there was any. */
export async function deleteMailsTo(transaction: Db, email: string): Promise<boolean> {
  const rows = await transaction.selectFrom("sign_in_mails").select(["id", "sealed"]).execute();
  const ids = rows.filter(({ id, sealed }) => recipientOf(id, sealed) === email).map(({ id }) => id);
  if (ids.length > 0) await transaction.deleteFrom("sign_in_mails").where("id", "in", ids).execute();
  return ids.length > 0;
}

const purpose = "security-mail:v1";

const sealMail = (id: string, mail: QueuedMail) => seal(purpose, id, JSON.stringify(mail));

function open(id: string, sealed: string): unknown {
  const opened = unseal(purpose, id, sealed);
  return opened === undefined ? undefined : JSON.parse(opened);
}

/** The mail; `undefined` if no current or previous secret decrypts it, or if it is not as this build writes it. */
function openMail(id: string, kind: string, sealed: string): QueuedMail | undefined {
  const fields = mailKinds.get(kind)?.fields.safeParse(open(id, sealed)).data;
  return fields && ({ ...fields, kind } as QueuedMail);
}

/** Also of a mail whose kind this build does not know. */
const recipientOf = (id: string, sealed: string) =>
  z.object({ to: z.string() }).safeParse(open(id, sealed)).data?.to;

const maxCounted = 1000;

/**
 * Counts the mails that only the previous secret opens, and those that none of ours opens, among the 1,000 that are kept
 * for longest. `lostUntilMs`: until when the last lost one is kept.
 */
export async function countSealedMails(db: Db) {
  const rows = await db
    .selectFrom("sign_in_mails")
    .select(["id", "sealed", "expires_at_ms"])
    .orderBy("expires_at_ms", "desc")
    .limit(maxCounted)
    .execute();
  const by = rows.map(({ id, sealed }) => sealedBy(purpose, id, sealed));
  return {
    ofPrevious: by.filter((secret) => secret === "previous").length,
    lost: by.filter((secret) => secret === undefined).length,
    lostUntilMs: rows[by.indexOf(undefined)]?.expires_at_ms ?? 0,
  };
}

/** Deletes a mail, if its lease is still ours. */
export async function deleteMail(db: Db, { id, leaseUntilMs }: ClaimedMail): Promise<void> {
  await deleteLeased(db, id, leaseUntilMs);
}

const deleteLeased = frequentStatement((db, id: string, leaseUntilMs: number) =>
  db.deleteFrom("sign_in_mails").where("id", "=", id).where("next_attempt_at_ms", "=", leaseUntilMs),
);

/** Reschedules a mail for a retry at `atMs`, if its lease is still ours, and seals it with the current secret. */
export async function rescheduleMail(
  db: Db,
  { id, leaseUntilMs, mail }: ClaimedMail,
  { attempts, atMs }: { attempts: number; atMs: number },
): Promise<void> {
  await db
    .updateTable("sign_in_mails")
    .set({ attempts, next_attempt_at_ms: atMs, ...(mail && { sealed: sealMail(id, mail) }) })
    .where("id", "=", id)
    .where("next_attempt_at_ms", "=", leaseUntilMs)
    .execute();
}
