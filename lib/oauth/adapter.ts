import type { Adapter, AdapterPayload } from "oidc-provider";
import { hasRow } from "@/lib/db/has-row";
import { type Db, store } from "@/lib/db/store";
import { TokenRotation } from "@/lib/oauth/token-rotation";
import { hashSecret } from "@/lib/runtime/secret";

/** The columns to find a row by: its id, or the code that people type or the uid in a browser's cookie. */
type KeyColumn = "id_hash" | "look_up_hash";

/**
 * The authorization server's storage: codes, device codes, refresh tokens, grants, and requests that wait for approval.
 * An id works like a password, so only its hash is stored.
 */
export class OAuthState implements Adapter {
  /** @param kind - the library's name for this type of row */
  constructor(readonly kind: string) {}

  /** Stores a row: of a refresh token, when its {@link TokenRotation} is committed; of an access token, never. */
  async upsert(id: string, payload: AdapterPayload, expiresInSeconds: number): Promise<void> {
    if (this.kind === "AccessToken") {
      TokenRotation.current().accessToken = payload;
      return;
    }
    const { key, row } = this.rowOf(id, payload, expiresInSeconds);
    if (this.kind === "RefreshToken") {
      TokenRotation.current().issued = { ...key, ...row };
      return;
    }
    const db = await store();
    await db
      .insertInto("connect_state")
      .values({ ...key, ...row })
      .onConflict((conflict) => conflict.columns(["kind", "id_hash"]).doUpdateSet(row))
      .execute();
  }

  protected rowOf(id: string, payload: AdapterPayload, expiresInSeconds: number) {
    const { jti: _, consumed, ...stored } = payload;
    const lookUp = payload.userCode ?? payload.uid;
    return {
      key: { kind: this.kind, id_hash: hashSecret("connect", id) },
      row: {
        payload: JSON.stringify(stored),
        grant_id: grantIdOf(payload),
        look_up_hash: lookUp === undefined ? null : hashSecret("connect", lookUp),
        consumed_at_ms: typeof consumed === "number" ? consumed * 1000 : null,
        expires_at_ms: Date.now() + expiresInSeconds * 1000,
      },
    };
  }

  /** The payload of a row. A refresh token was read for the rate limit; the commit of its rotation decides on it. */
  async find(id: string): Promise<AdapterPayload | undefined> {
    const { credential } = this.kind === "RefreshToken" ? TokenRotation.current() : {};
    const isKnown = credential?.kind === this.kind && credential.jti === id;
    const found = isKnown ? credential : await this.read("id_hash", id);
    return found && { ...found, jti: id };
  }

  findByUserCode(userCode: string): Promise<AdapterPayload | undefined> {
    return this.read("look_up_hash", userCode);
  }

  /** Adds fields to a payload. Returns false if the row has changed since it was read. */
  async amend(
    db: Db,
    by: KeyColumn,
    id: string,
    before: AdapterPayload,
    changes: AdapterPayload,
  ): Promise<boolean> {
    const after = { ...before, ...changes };
    const amending = db
      .updateTable("connect_state")
      .set({ payload: JSON.stringify(after), grant_id: grantIdOf(after) })
      .where("payload", "=", JSON.stringify(before))
      .where("kind", "=", this.kind)
      .where(by, "=", hashSecret("connect", id));
    return hasRow(amending.returning("kind"));
  }

  findByUid(uid: string): Promise<AdapterPayload | undefined> {
    return this.read("look_up_hash", uid);
  }

  /** Notes that the request uses a code or token up. */
  async consume(id: string): Promise<void> {
    TokenRotation.current().used = { kind: this.kind, id };
  }

  async destroy(id: string): Promise<void> {
    const ofKind = (await store()).deleteFrom("connect_state").where("kind", "=", this.kind);
    await ofKind.where("id_hash", "=", hashSecret("connect", id)).execute();
  }

  async revokeByGrantId(grantId: string): Promise<void> {
    const ofKind = (await store()).deleteFrom("connect_state").where("kind", "=", this.kind);
    await ofKind.where("grant_id", "=", grantId).execute();
  }

  /**
   * The payload of a row, until it expires. Whether a used refresh token may be used again is decided when its
   * {@link TokenRotation} is committed, so the library is not told that it was used.
   */
  async read(by: KeyColumn, id: string): Promise<AdapterPayload | undefined> {
    const db = await store();
    const row = await db
      .selectFrom("connect_state")
      .select(["payload", "consumed_at_ms", "expires_at_ms"])
      .where("kind", "=", this.kind)
      .where(by, "=", hashSecret("connect", id))
      .where("expires_at_ms", ">", Date.now())
      .executeTakeFirst();
    if (!row) return undefined;
    const { consumed_at_ms, expires_at_ms } = row;
    const payload: AdapterPayload = JSON.parse(row.payload);
    // An owner can extend these two.
    if (this.kind === "RefreshToken" || this.kind === "Grant") {
      return { ...payload, exp: Math.floor(expires_at_ms / 1000), usedAtMs: consumed_at_ms };
    }
    return consumed_at_ms === null ? payload : { ...payload, consumed: Math.floor(consumed_at_ms / 1000) };
  }
}

/** The id of the owner's grant. A row without one is not approved yet, and can be evicted. */
function grantIdOf({ grantId, result }: AdapterPayload): string | null {
  return grantId ?? result?.consent?.grantId ?? null;
}
