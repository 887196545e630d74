import * as z from "zod";
import { isDocumentAddress } from "@/lib/config/client-documents";
import { oauthSeconds } from "@/lib/config/lifetimes";
import { settings } from "@/lib/config/settings";
import { frequentStatement } from "@/lib/db/frequent-statement";
import type { Db } from "@/lib/db/store";
import { seal, unseal } from "@/lib/runtime/seal";
import { hashSecret } from "@/lib/runtime/secret";

/*
 * The id of a registered client contains its sealed metadata (RFC 7591 §A.5.2), so registrations fill no table and evict
 * no other client. A client gets a row when an owner approves it. If the operator removes a client before its id has
 * expired, the removal is stored until then.
 *
 * A client whose metadata document is not listed registers by it: the document is read for an owner whom the client asks,
 * which gives it a row.
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
  dpop_bound_access_tokens: z.boolean().optional(),
});

type Registration = z.infer<typeof registration>;

/** Whether an id is that of a client that registered; no operator can add one like it. */
export const isRegistered = (id: string) => containsItself(id) || isUnlistedDocument(id);

/** Whether an id contains the metadata that its client registered, and so is up to 1.5 KB long. */
export const containsItself = (id: string) => id.startsWith(idPrefix);

/** Whether a client registers by a metadata document that is not listed, where apps may register and documents are read. */
export function isUnlistedDocument(id: string): boolean {
  const { connectClients, connectRegistration } = settings();
  const isOff = !connectRegistration || connectClients.length === 0;
  return !isOff && !connectClients.includes(id) && isDocumentAddress(id);
}

/** Registers a client: returns its metadata with the id that contains them. */
export function issueClient(
  application: Omit<Registration, "client_id" | "client_id_issued_at">,
  nowMs: number,
): Registration {
  const metadata = { ...application, client_id_issued_at: Math.floor(nowMs / 1000) };
  return { client_id: idPrefix + seal(purpose, idPrefix, JSON.stringify(metadata)), ...metadata };
}

/** Registers a client by its metadata document, or what that says now, for a day at least. */
export async function registerDocument(
  db: Db,
  document: Pick<Registration, "client_id" | "client_name" | "redirect_uris" | "dpop_bound_access_tokens">,
  nowMs: number,
): Promise<void> {
  const registered: Registration = { ...document, client_id_issued_at: Math.floor(nowMs / 1000) };
  const payload = JSON.stringify(registered);
  const id_hash = hashSecret("connect", document.client_id);
  const expires_at_ms = nowMs + oauthSeconds.unapprovedDocument * 1000;
  await db
    .insertInto("connect_state")
    .values({ kind: "Client", id_hash, payload, expires_at_ms })
    .onConflict((conflict) =>
      conflict.columns(["kind", "id_hash"]).doUpdateSet((eb) => {
        const before = eb.ref("connect_state.expires_at_ms");
        const isSooner = eb(before, "<", expires_at_ms);
        return { payload, expires_at_ms: eb.case().when(isSooner).then(expires_at_ms).else(before).end() };
      }),
    )
    .execute();
}

/** All registered clients that an owner has approved, ordered by expiry. */
export async function listRegisteredClients(db: Db, nowMs: number): Promise<RegisteredClient[]> {
  const rows = await stateOfClients(db, nowMs)
    .where("kind", "=", "Client")
    .orderBy("expires_at_ms")
    .execute();
  return rows.map(({ payload, expires_at_ms }) => toClient(JSON.parse(payload), expires_at_ms));
}

export async function findRegisteredClient(
  db: Db,
  id: string,
  nowMs: number,
): Promise<RegisteredClient | undefined> {
  const [row] = (await readClient(db, hashSecret("connect", id), nowMs)).rows;
  if (!row) return openClientId(id, nowMs);
  return row.kind === "Client" ? toClient(JSON.parse(row.payload), row.expires_at_ms) : undefined;
}

const readClient = frequentStatement((db, idHash: string, nowMs: number) =>
  stateOfClients(db, nowMs).where("id_hash", "=", idHash),
);

function stateOfClients(db: Db, nowMs: number) {
  return db
    .selectFrom("connect_state")
    .select(["kind", "payload", "expires_at_ms"])
    .where("kind", "in", ["Client", removedKind])
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
    .values({ kind: removedKind, id_hash, payload: "{}", expires_at_ms: issued.forgottenAtMs })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Extends the lifetime of a registered client after an approval; does nothing for other clients. */
export async function extendRegisteredClient(db: Db, id: string, nowMs: number): Promise<void> {
  const client = await findRegisteredClient(db, id, nowMs);
  if (!client) return;
  const { name: client_name, redirectUris: redirect_uris, addedAtMs, mustBind } = client;
  const client_id_issued_at = addedAtMs && addedAtMs / 1000;
  const bound = mustBind && { dpop_bound_access_tokens: mustBind };
  const registered: Registration = {
    client_id: id,
    client_name,
    redirect_uris,
    client_id_issued_at,
    ...bound,
  };
  const id_hash = hashSecret("connect", id);
  const expires_at_ms = nowMs + oauthSeconds.registeredClient * 1000;
  await db
    .insertInto("connect_state")
    .values({ kind: "Client", id_hash, payload: JSON.stringify(registered), expires_at_ms })
    .onConflict((conflict) => conflict.columns(["kind", "id_hash"]).doUpdateSet({ expires_at_ms }))
    .execute();
}

function openClientId(id: string, nowMs: number): RegisteredClient | undefined {
  const text = isRegistered(id) ? unseal(purpose, idPrefix, id.slice(idPrefix.length)) : undefined;
  const client = text === undefined ? undefined : toClient({ client_id: id, ...JSON.parse(text) });
  return client && client.forgottenAtMs > nowMs ? client : undefined;
}

/** @param untilMs - when it is forgotten; by default as long after it registered as after an approval */
function toClient(registered: unknown, untilMs?: number) {
  const { client_id: id, client_name: name, ...rest } = registration.parse(registered);
  const addedAtMs = rest.client_id_issued_at && rest.client_id_issued_at * 1000;
  const forgottenAtMs = untilMs ?? (addedAtMs ?? 0) + oauthSeconds.registeredClient * 1000;
  const { redirect_uris: redirectUris, dpop_bound_access_tokens: mustBind } = rest;
  return { id, name, redirectUris, addedAtMs, forgottenAtMs, mustBind };
}
