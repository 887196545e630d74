import * as z from "zod";
import { ConnectState, hash } from "@/lib/connect/state";
import { type Db, store } from "@/lib/store/store";

/** A client that has registered: all of it but the times is its own word. */
export type RegisteredClient = {
  id: string;
  name: string;
  redirectUris: string[];
  /** Unknown of those that registered before it was written down. */
  addedAtMs: number | undefined;
  forgottenAtMs: number;
};

const registration = z.object({
  client_id: z.string(),
  client_name: z.string(),
  redirect_uris: z.array(z.string()),
  client_id_issued_at: z.int().optional(),
});

const row = z
  .object({
    payload: z.string().transform((text) => registration.parse(JSON.parse(text))),
    expires_at_ms: z.int(),
  })
  .transform(({ payload, expires_at_ms }): RegisteredClient => {
    const { client_id: id, client_name: name, redirect_uris: redirectUris } = payload;
    const { client_id_issued_at: issuedAt } = payload;
    const addedAtMs = issuedAt === undefined ? undefined : issuedAt * 1000;
    return { id, name, redirectUris, addedAtMs, forgottenAtMs: expires_at_ms };
  });

/** All that are not forgotten, in the order in which they will be. */
export async function listRegisteredClients(db: Db, nowMs: number): Promise<RegisteredClient[]> {
  const rows = await db
    .selectFrom("connect_state")
    .select(["payload", "expires_at_ms"])
    .where("kind", "=", "Client")
    .where("expires_at_ms", ">", nowMs)
    .orderBy("expires_at_ms")
    .execute();
  return rows.map((found) => row.parse(found));
}

export async function findRegisteredClient(db: Db, id: string): Promise<RegisteredClient | undefined> {
  const found = await db
    .selectFrom("connect_state")
    .select(["payload", "expires_at_ms"])
    .where("kind", "=", "Client")
    .where("id_hash", "=", hash(id))
    .executeTakeFirst();
  return found && row.parse(found);
}

/** Forgets one now. */
export async function forgetRegisteredClient(db: Db, id: string): Promise<void> {
  await db.deleteFrom("connect_state").where("kind", "=", "Client").where("id_hash", "=", hash(id)).execute();
}

/** Clients that have made themselves known (RFC 7591); each is forgotten at its end, which every approval puts off. */
export class RegisteredClients extends ConnectState {
  constructor() {
    super("Client");
  }

  /** How many there are. */
  async count(): Promise<number> {
    const db = await store();
    const { count } = await db
      .selectFrom("connect_state")
      .select((of) => of.fn.countAll().as("count"))
      .where("kind", "=", "Client")
      .where("expires_at_ms", ">", Date.now())
      .executeTakeFirstOrThrow();
    return Number(count);
  }

  /** Keeps one for so much longer; nothing where a client is not one of these. */
  async keep(id: string, forSeconds: number): Promise<void> {
    const client = await this.find(id);
    if (client) await this.upsert(id, client, forSeconds);
  }
}
