import { randomBytes } from "node:crypto";
import type { PasskeySite } from "@/lib/auth/passkeys/passkey-exchange";
import { settings } from "@/lib/config/settings";
import { type Actor, auditedTransaction } from "@/lib/db/audit";
import type { Db } from "@/lib/db/store";
import { ApiError } from "@/lib/http/errors";
import { hashSecret, mintSecret } from "@/lib/runtime/secret";

/** A person who works in the office. */
export type Operator = { id: string; name: string };

/** A name that can stand in the audit, in a command, in an address and, a backend's, in the `iss` of an assertion. */
export const plainName = /^[a-z\d][a-z\d.-]{0,39}$/;

export const linkMinutes = 15;

/** The page of the office that such a link opens. */
export const enrolPath = "/enrol";

/** Where operators use passkeys: pages at exactly `OFFICE_URL`. Throws an {@link ApiError} if the office is off. */
export function operatorsSite(): PasskeySite {
  const { office } = settings();
  if (office)
    return {
      id: new URL(office.url).hostname,
      name: "Corner Office operators",
      origin: office.url,
      table: "operator_passkeys",
      cookie: "operator-browser",
    };
  throw new ApiError("not_configured", {
    message: "There is no office.",
    hint: "Set OFFICE_PORT, here and for the server.",
  });
}

/**
 * Adds an operator, or finds the one with this name, and returns a link that adds a passkey: it works once, within 15
 * minutes, and replaces the link before it. Only the hash of its token is stored. Throws an {@link ApiError} if the office
 * is off.
 */
export async function makeOperatorLink(db: Db, name: string, nowMs: number): Promise<string> {
  const { origin } = operatorsSite();
  const token = mintSecret();
  const link = { link_hash: hashSecret("operator-link", token), link_until_ms: nowMs + linkMinutes * 60_000 };
  await changeOperator(db, { by: "operator", what: "operator add", name }, nowMs, (transaction) =>
    transaction
      .insertInto("operators")
      .values({ id: `op_${randomBytes(16).toString("base64url")}`, name, added_at_ms: nowMs, ...link })
      .onConflict((conflict) => conflict.column("name").doUpdateSet(link))
      .execute(),
  );
  // The fragment reaches no server and no log.
  return `${origin}${enrolPath}#${token}`;
}

/** The operators by name, with what they have. */
export function listOperators(db: Db, nowMs: number) {
  return db
    .selectFrom("operators")
    .select(({ selectFrom, fn }) => {
      const count = fn.countAll<number>().as("count");
      const passkeys = selectFrom("operator_passkeys").select(count);
      const sessions = selectFrom("operator_sessions").select(count).where("expires_at_ms", ">", nowMs);
      return [
        "name",
        passkeys.whereRef("operator_id", "=", "operators.id").as("passkeys"),
        sessions.whereRef("operator_id", "=", "operators.id").as("sessions"),
        "added_at_ms",
      ];
    })
    .$narrowType<{ passkeys: number; sessions: number }>()
    .orderBy("name")
    .execute();
}

/** Removes an operator with their passkeys and sessions. Throws an {@link ApiError} if there is none. */
export async function removeOperator(db: Db, name: string, nowMs: number): Promise<void> {
  await changeOperator(db, { by: "operator", what: "operator remove", name }, nowMs, async (transaction) => {
    await requireOperator(transaction, name);
    await transaction.deleteFrom("operators").where("name", "=", name).execute();
  });
}

/** Ends an operator's sessions. Throws an {@link ApiError} if there is no such operator. */
export async function endOperatorSessions(db: Db, name: string, nowMs: number): Promise<void> {
  await changeOperator(db, { by: "operator", what: "operator end", name }, nowMs, async (transaction) => {
    const { id } = await requireOperator(transaction, name);
    await transaction.deleteFrom("operator_sessions").where("operator_id", "=", id).execute();
  });
}

async function requireOperator(db: Db, name: string): Promise<{ id: string }> {
  const named = db.selectFrom("operators").select("id").where("name", "=", name);
  const operator = await named.executeTakeFirst();
  if (operator) return operator;
  throw new ApiError("not_found", {
    message: "There is no operator with this name.",
    hint: "See 'operator list'.",
  });
}

/** Changes an operator, and records what they have before and after, without secrets. By default they do it. */
export function changeOperator<T>(
  db: Db,
  { what, name, by = `operator ${name}` }: { what: string; name: string; by?: Actor },
  nowMs: number,
  change: (transaction: Db) => Promise<T>,
): Promise<T> {
  const readState = async (transaction: Db) => {
    const operators = await listOperators(transaction, nowMs);
    const operator = operators.find((operator) => operator.name === name);
    return operator && { passkeys: operator.passkeys, sessions: operator.sessions };
  };
  return auditedTransaction(db, { by, what, whom: name, readState }, nowMs, change);
}
