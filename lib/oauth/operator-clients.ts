import { sql } from "kysely";
import * as z from "zod";
import { currentSessions } from "@/lib/auth/sessions/session";
import { endSession } from "@/lib/auth/sessions/session-end";
import { auditedTransaction } from "@/lib/db/audit";
import { beginOfClient, clientOfState } from "@/lib/db/connect-state";
import { frequentStatement } from "@/lib/db/frequent-statement";
import type { Db } from "@/lib/db/store";
import type { Tables } from "@/lib/db/tables";
import { ApiError } from "@/lib/http/errors";
import { appSessionId } from "@/lib/oauth/app-session";
import { findRegisteredClient, forgetRegisteredClient, isRegistered } from "@/lib/oauth/registered-clients";

/** An app that the operator has added, so that owners see its name and it can use its own URL scheme. */
type AddedClient = ReturnType<typeof toClient>;

function toClient({ id, name, redirect_uris, added_at_ms: addedAtMs }: Tables["connect_clients"]) {
  return { id, name, redirectUris: z.array(z.string()).parse(JSON.parse(redirect_uris)), addedAtMs };
}

/** Adds a client. Throws an {@link ApiError} if its id is taken. */
export async function addClient(
  db: Db,
  { id, name, redirectUris }: Omit<AddedClient, "addedAtMs">,
  nowMs: number,
): Promise<void> {
  const added = await auditedTransaction(db, auditedClient("connect add", id, nowMs), nowMs, (transaction) =>
    transaction
      .insertInto("connect_clients")
      .values({ id, name, redirect_uris: JSON.stringify(redirectUris), added_at_ms: nowMs })
      .onConflict((conflict) => conflict.doNothing())
      .returning("id")
      .executeTakeFirst(),
  );
  if (!added) {
    throw new ApiError("invalid_request", {
      message: "There is already a client with this id.",
      hint: "Remove it first, or use another id.",
    });
  }
}

/** All clients that the operator has added, ordered by id. */
export async function listClients(db: Db): Promise<AddedClient[]> {
  const rows = await db.selectFrom("connect_clients").selectAll().orderBy("id").execute();
  return rows.map(toClient);
}

export async function findClient(db: Db, id: string): Promise<AddedClient | undefined> {
  if (id.includes("\0")) return undefined; // PostgreSQL refuses to look for it.
  const [found] = (await readClient(db, id)).rows;
  return found && toClient(found);
}

const readClient = frequentStatement((db, id: string) =>
  db
    .selectFrom("connect_clients")
    .select(["id", "name", "redirect_uris", "added_at_ms"])
    .where("id", "=", id),
);

/** A client that was added or has registered. */
export function findKnownClient(db: Db, id: string, nowMs: number) {
  return isRegistered(id) ? findRegisteredClient(db, id, nowMs) : findClient(db, id);
}

/**
 * Removes a client that was added or has registered, so that it gets no more grants, and then ends its sessions one by
 * one. After a failure it can be called again. Throws an {@link ApiError} if there is neither a client nor a session.
 */
export async function removeClient(db: Db, id: string, nowMs: number): Promise<void> {
  if (!(await findKnownClient(db, id, nowMs)) && (await findSessions(db, id, nowMs)).length === 0) {
    throw new ApiError("not_found", { message: "There is no such client.", hint: "See 'connect list'." });
  }
  await auditedTransaction(db, auditedClient("connect remove", id, nowMs), nowMs, async (transaction) => {
    await transaction.deleteFrom("connect_clients").where("id", "=", id).execute();
    await forgetRegisteredClient(transaction, id, nowMs);
  });
  for (const sessionId of await findSessions(db, id, nowMs)) {
    await endSession(db, { by: "operator", what: "connect remove" }, sessionId, nowMs);
  }
}

/** The ids of a client's current sessions, by the grants of its codes and refresh tokens. */
async function findSessions(db: Db, clientId: string, nowMs: number): Promise<string[]> {
  const grants = db
    .selectFrom("connect_state")
    .select(sql<string>`${appSessionId("")} || grant_id`.as("session_id"))
    .where("grant_id", "is not", null)
    .where(clientOfState(db), "=", beginOfClient(clientId));
  const sessions = await currentSessions(db, nowMs).where("id", "in", grants).execute();
  return sessions.map(({ id }) => id);
}

function auditedClient(what: string, id: string, nowMs: number) {
  const readState = async (transaction: Db) => ({
    client: (await findKnownClient(transaction, id, nowMs)) ?? null,
  });
  return { by: "operator", what, whom: id, readState } as const;
}
