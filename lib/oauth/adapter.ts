import { createHash } from "node:crypto";
import type { Adapter, AdapterPayload } from "oidc-provider";
import * as z from "zod";
import { store } from "@/lib/db/store";

const storedRow = z.object({
  payload: z.string().transform((text): AdapterPayload => JSON.parse(text)),
  consumed_at_ms: z.int().nullable(),
});

/** The names of what is kept: its id, and for some the one that people type or a browser carries. */
type By = "id_hash" | "look_up_hash";

/**
 * What the authorization server keeps, in our store: codes, device codes, refresh tokens, grants, and requests that
 * wait for their owner's word. The id of each is as good as a password, so only its hash is kept.
 */
export class OAuthState implements Adapter {
  /** @param kind - the library's name of what it keeps */
  constructor(private readonly kind: string) {}

  async upsert(id: string, payload: AdapterPayload, expiresInSeconds: number): Promise<void> {
    const { jti: _, consumed, ...kept } = payload;
    const row = {
      payload: JSON.stringify(kept),
      grant_id: grantOf(payload),
      look_up_hash: hashOptional(payload.userCode ?? payload.uid),
      consumed_at_ms: typeof consumed === "number" ? consumed * 1000 : null,
      expires_at_ms: Date.now() + expiresInSeconds * 1000,
    };
    const db = await store();
    await db
      .insertInto("connect_state")
      .values({ kind: this.kind, id_hash: hash(id), ...row })
      .onConflict((conflict) => conflict.columns(["kind", "id_hash"]).doUpdateSet(row))
      .execute();
  }

  async find(id: string): Promise<AdapterPayload | undefined> {
    const found = await this.read("id_hash", id);
    return found && { ...found, jti: id };
  }

  findByUserCode(userCode: string): Promise<AdapterPayload | undefined> {
    return this.read("look_up_hash", userCode);
  }

  /** Adds to what was read, unless somebody has changed it since. */
  async amend(
    by: By,
    id: string,
    before: AdapterPayload,
    auditedTransaction: AdapterPayload,
  ): Promise<boolean> {
    const db = await store();
    const after = { ...before, ...auditedTransaction };
    const amended = await db
      .updateTable("connect_state")
      .set({ payload: JSON.stringify(after), grant_id: grantOf(after) })
      .where("kind", "=", this.kind)
      .where(by, "=", hash(id))
      .where("payload", "=", JSON.stringify(before))
      .returning("kind")
      .executeTakeFirst();
    return amended !== undefined;
  }

  findByUid(uid: string): Promise<AdapterPayload | undefined> {
    return this.read("look_up_hash", uid);
  }

  /** Of two that redeem the same at once, one does (RFC 6749 §4.1.2). */
  async consume(id: string): Promise<void> {
    const db = await store();
    const consumed = await db
      .updateTable("connect_state")
      .set({ consumed_at_ms: Date.now() })
      .where("kind", "=", this.kind)
      .where("id_hash", "=", hash(id))
      .where("consumed_at_ms", "is", null)
      .returning("id_hash")
      .executeTakeFirst();
    if (consumed) return;
    const { errors } = await import("oidc-provider");
    throw new errors.InvalidGrant("it was used already");
  }

  async destroy(id: string): Promise<void> {
    const db = await store();
    await db
      .deleteFrom("connect_state")
      .where("kind", "=", this.kind)
      .where("id_hash", "=", hash(id))
      .execute();
  }

  async revokeByGrantId(grantId: string): Promise<void> {
    const db = await store();
    await db
      .deleteFrom("connect_state")
      .where("kind", "=", this.kind)
      .where("grant_id", "=", grantId)
      .execute();
  }

  /** What is kept under a name, until it runs out. */
  async read(by: By, id: string): Promise<AdapterPayload | undefined> {
    const db = await store();
    const row = await db
      .selectFrom("connect_state")
      .select(["payload", "consumed_at_ms"])
      .where("kind", "=", this.kind)
      .where(by, "=", hash(id))
      .where("expires_at_ms", ">", Date.now())
      .executeTakeFirst();
    if (!row) return undefined;
    const { payload, consumed_at_ms } = storedRow.parse(row);
    return consumed_at_ms === null ? payload : { ...payload, consumed: Math.floor(consumed_at_ms / 1000) };
  }
}

/** The grant that an owner gave: a row without one is nobody's yet, and may be evicted. */
function grantOf({ grantId, result }: AdapterPayload): string | null {
  return grantId ?? result?.consent?.grantId ?? null;
}

/** What stands for an id in the store. Ids are random and long, so a plain hash is as good as a slow one. */
export function hash(id: string): string {
  return createHash("sha256").update(`corner-office:connect:v1:${id}`).digest("base64url");
}

function hashOptional(id: string | undefined): string | null {
  return id === undefined ? null : hash(id);
}
