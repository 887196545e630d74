import * as z from "zod";
import { hashSecret } from "@/lib/auth/secret";
import type { Db } from "@/lib/db/store";
import { lifetimes } from "@/lib/oauth/token-lifetimes";
import { seal, unseal } from "@/lib/runtime/seal";

/*
 * The id of a registered client contains its sealed metadata (RFC 7591 §A.5.2), so registrations fill no table and evict
 * no other client. A client gets a row when an owner approves it. If the operator removes a client before its id has
 * expired, the removal is stored until then.
 */

const idPrefix = "app_";
const purpose = "client-id:v1";
const removedKind = "RemovedClient";

/** A registered client. Everything except the times is the client's own, unverified claim. */
type RegisteredClient = ReturnType<typeof toClient>;

const registration = z.object({
  client_id: z.string(),
  client_name: z.string(),
  redirect_uris: z.array(z.string()),
  client_id_issued_at: z.int().optional(),
});

type Registration = z.infer<typeof registration>;

/** Registers a client: returns its metadata with the id that contains them. */
export function issueClient(
  application: Pick<Registration, "client_name" | "redirect_uris">,
  nowMs: number,
): Registration {
  const metadata = { ...application, client_id_issued_at: Math.floor(nowMs / 1000) };
  return { client_id: idPrefix + seal(purpose, idPrefix, JSON.stringify(metadata)), ...metadata };
}

/** All registered clients that an owner has approved, ordered by expiry. */
export async function listRegisteredClients(db: Db, nowMs: number): Promise<RegisteredClient[]> {
  const rows = await approvedClients(db, nowMs).orderBy("expires_at_ms").execute();
  return rows.map(fromRow);
}

export async function findRegisteredClient(
  db: Db,
  id: string,
  nowMs: number,
): Promise<RegisteredClient | undefined> {
  const approved = await approvedClients(db, nowMs)
    .where("id_hash", "=", hashSecret("connect", id))
    .executeTakeFirst();
  if (approved) return fromRow(approved);
  const issued = await findIssuedClient(db, id, nowMs);
  return issued && toClient(issued, unusedUntilMs(issued));
}

function approvedClients(db: Db, nowMs: number) {
  return db
    .selectFrom("connect_state")
    .select(["payload", "expires_at_ms"])
    .where("kind", "=", "Client")
    .where("expires_at_ms", ">", nowMs);
}

/** Deletes a registered client, and blocks its id until that expires. */
export async function forgetRegisteredClient(db: Db, id: string, nowMs: number): Promise<void> {
  const id_hash = hashSecret("connect", id);
  await db.deleteFrom("connect_state").where("kind", "=", "Client").where("id_hash", "=", id_hash).execute();
  const issued = openClientId(id, nowMs);
  if (!issued) return;
  await db
    .insertInto("connect_state")
    .values({ kind: removedKind, id_hash, payload: "{}", expires_at_ms: unusedUntilMs(issued) })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Extends the lifetime of a registered client after an approval; does nothing for other clients. */
export async function extendRegisteredClient(db: Db, id: string, nowMs: number): Promise<void> {
  const row = {
    kind: "Client",
    id_hash: hashSecret("connect", id),
    expires_at_ms: nowMs + lifetimes.usedClient * 1000,
  };
  const extended = await db
    .updateTable("connect_state")
    .set(row)
    .where("kind", "=", row.kind)
    .where("id_hash", "=", row.id_hash)
    .returning("kind")
    .executeTakeFirst();
  const issued = extended ? undefined : await findIssuedClient(db, id, nowMs);
  if (!issued) return;
  await db
    .insertInto("connect_state")
    .values({ ...row, payload: JSON.stringify(issued) })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

async function findIssuedClient(db: Db, id: string, nowMs: number): Promise<Registration | undefined> {
  const issued = openClientId(id, nowMs);
  if (!issued) return undefined;
  const removed = await db
    .selectFrom("connect_state")
    .select("kind")
    .where("kind", "=", removedKind)
    .where("id_hash", "=", hashSecret("connect", id))
    .executeTakeFirst();
  return removed ? undefined : issued;
}

function openClientId(id: string, nowMs: number): Registration | undefined {
  const text = id.startsWith(idPrefix) ? unseal(purpose, idPrefix, id.slice(idPrefix.length)) : undefined;
  if (text === undefined) return undefined;
  const issued = registration.parse({ client_id: id, ...JSON.parse(text) });
  return unusedUntilMs(issued) > nowMs ? issued : undefined;
}

function unusedUntilMs({ client_id_issued_at = 0 }: Registration): number {
  return (client_id_issued_at + lifetimes.unusedClient) * 1000;
}

function fromRow({ payload, expires_at_ms }: { payload: string; expires_at_ms: number }): RegisteredClient {
  return toClient(registration.parse(JSON.parse(payload)), expires_at_ms);
}

function toClient(
  { client_id: id, client_name: name, redirect_uris: redirectUris, client_id_issued_at }: Registration,
  forgottenAtMs: number,
) {
  // Unknown for clients that registered with a build that did not store it.
  const addedAtMs = client_id_issued_at === undefined ? undefined : client_id_issued_at * 1000;
  return { id, name, redirectUris, addedAtMs, forgottenAtMs };
}
