import { sql } from "kysely";
import { asIso } from "@/lib/config/instants";
import { frequentStatement } from "@/lib/db/frequent-statement";
import type { Db } from "@/lib/db/store";
import type { Tables } from "@/lib/db/tables";

/* What became of the last attempt to send each mail, but those of the onboarding series, whose rows say it themselves. */

type Attempt = {
  id: string;
  to: string;
  kind: string;
  state: "sent" | "retrying" | "failed";
  failure?: string | undefined;
};

/** Notes what became of the last attempt to send a mail, for the operator. */
export async function recordAttempt(
  db: Db,
  { id, to: email, kind, state, failure }: Attempt,
  nowMs: number,
): Promise<void> {
  await insertAttempt(db, { id, email, kind, at_ms: nowMs, state, failure: failure || null });
}

const insertAttempt = frequentStatement((db, attempt: Tables["sign_in_mail_attempts"]) => {
  const { at_ms, state, failure } = attempt;
  return db
    .insertInto("sign_in_mail_attempts")
    .values(attempt)
    .onConflict((conflict) => conflict.column("id").doUpdateSet({ at_ms, state, failure }));
});

/** The last attempts of the mails to an address, newest first, of the last `RETENTION_DAYS`: a query. */
export function attemptsTo(db: Db, email: string) {
  return db
    .selectFrom("sign_in_mail_attempts")
    .select(["id", "email", "kind", "at_ms", "state", "failure"])
    .where("email", "=", email)
    .orderBy("at_ms", "desc")
    .limit(50);
}

/** What the mails have in common that were not accepted, and are tried again: how many there are, and the last refusal. */
export async function readRefused(db: Db) {
  const refused = db
    .selectFrom("sign_in_mail_attempts")
    .where(sql`state`, "<>", sql`'sent'`) // as in the partial index
    .where("state", "=", "retrying");
  const [counted] = await refused.select(sql<number>`count(*)`.as("count")).execute();
  const last = await refused
    .select(["at_ms", "failure"])
    .orderBy("at_ms", "desc")
    .limit(1)
    .executeTakeFirst();
  return { count: Number(counted?.count), last };
}

/** A mail as the operator and its recipient see it. */
export function describeMail(
  mail: Pick<Tables["sign_in_mail_attempts"], "id" | "kind" | "at_ms" | "state" | "failure">,
) {
  const { id, kind, at_ms, state, failure } = mail;
  return { id, kind, dueAt: asIso(at_ms), state, ...(failure !== null && { failure }) };
}
