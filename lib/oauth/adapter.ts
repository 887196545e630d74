import { sql } from "kysely";
import type { Adapter, AdapterPayload } from "oidc-provider";
import { frequentStatement } from "@/lib/db/frequent-statement";
import { hasRow } from "@/lib/db/has-row";
import { type Db, store } from "@/lib/db/store";
import type { Tables } from "@/lib/db/tables";
import { appSessionId } from "@/lib/oauth/app-session";
import type { Exchange } from "@/lib/oauth/exchange";
import { hashSecret } from "@/lib/runtime/secret";

/** The columns to find a row by: its id, or the code that people type or the uid in a browser's cookie. */
type KeyColumn = "id_hash" | "look_up_hash";

/**
 * The authorization server's storage: codes, device codes, grants, and requests that wait for approval. An id works like a
 * password, so only its hash is stored. Kinds that do more extend it.
 */
export class OAuthState implements Adapter {
  /**
   * @param kind - the library's name for this type of row
   * @param current - the exchange that the library answers, where it asks
   */
  constructor(
    readonly kind: string,
    protected readonly current: () => Exchange | undefined = () => undefined,
  ) {}

  async upsert(id: string, payload: AdapterPayload, expiresInSeconds: number): Promise<void> {
    const { key, row } = this.rowOf(id, payload, expiresInSeconds);
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
    const lookUpHash = lookUp === undefined ? null : hashSecret("connect", lookUp);
    const { mustBind } = this.current() ?? {};
    return {
      key: { kind: this.kind, id_hash: hashSecret("connect", id) },
      row: {
        payload: JSON.stringify({ ...stored, ...(mustBind && { mustBind }) }),
        grant_id: grantIdOf(payload),
        // A grant is read with the codes and tokens that name it, by its id.
        look_up_hash: this.kind === "Grant" ? id : lookUpHash,
        consumed_at_ms: typeof consumed === "number" ? consumed * 1000 : null,
        expires_at_ms: Date.now() + expiresInSeconds * 1000,
      },
    };
  }

  async find(id: string): Promise<AdapterPayload | undefined> {
    const found = await this.read("id_hash", id);
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

  /** Nothing: a code or token is used up with what is issued for it. See `token-rotation.ts`. */
  async consume(): Promise<void> {}

  async destroy(id: string): Promise<void> {
    const ofKind = (await store()).deleteFrom("connect_state").where("kind", "=", this.kind);
    await ofKind.where("id_hash", "=", hashSecret("connect", id)).execute();
  }

  async revokeByGrantId(grantId: string): Promise<void> {
    const ofKind = (await store()).deleteFrom("connect_state").where("kind", "=", this.kind);
    await ofKind.where("grant_id", "=", grantId).execute();
  }

  /**
   * The payload of a row, until it expires. Whether a used refresh token may be used again is decided when its successor is
   * written, so the library is not told that it was used.
   */
  async read(by: KeyColumn, id: string): Promise<AdapterPayload | undefined> {
    const db = await store();
    const { rows } = await readBy[by](db, this.kind, hashSecret("connect", id), Date.now());
    return rows[0] && toPayload(this.kind, rows[0]);
  }
}

function toPayload(kind: string, { payload, consumed_at_ms, expires_at_ms }: StoredRow): AdapterPayload {
  const stored: AdapterPayload = JSON.parse(payload);
  // An owner can extend these two.
  if (kind === "RefreshToken" || kind === "Grant") {
    return { ...stored, exp: Math.floor(expires_at_ms / 1000), usedAtMs: consumed_at_ms };
  }
  return consumed_at_ms === null ? stored : { ...stored, consumed: Math.floor(consumed_at_ms / 1000) };
}

type StoredRow = Pick<Tables["connect_state"], "payload" | "consumed_at_ms" | "expires_at_ms">;

const findBy = (by: KeyColumn) =>
  frequentStatement((db, kind: string, hash: string, nowMs: number) =>
    db
      .selectFrom("connect_state")
      .select(["payload", "consumed_at_ms", "expires_at_ms"])
      .where("kind", "=", kind)
      .where(by, "=", hash)
      .where("expires_at_ms", ">", nowMs),
  );
const readBy = { id_hash: findBy("id_hash"), look_up_hash: findBy("look_up_hash") };

/**
 * The code or token of a request, with the state of its session, if that has not ended, and its grant: read once, for its rate
 * limit and for the library.
 */
export async function findCredential(
  kind: string,
  id: string,
): Promise<(Pick<Exchange, "session" | "grant"> & { credential: AdapterPayload }) | undefined> {
  const { rows } = await readCredential(await store(), kind, hashSecret("connect", id), Date.now());
  const [row] = rows;
  if (!row) return undefined;
  const { payload, consumed_at_ms, expires_at_ms, grant_id, ends_at_ms, ...joined } = row;
  const { grant_payload, grant_ends_at_ms, ...state } = joined;
  const credential = { ...toPayload(kind, { payload, consumed_at_ms, expires_at_ms }), jti: id };
  const session = ends_at_ms === null ? undefined : { ...state, expires_at_ms: ends_at_ms };
  if (grant_payload === null || grant_ends_at_ms === null) return { credential, session, grant: undefined };
  const ofGrant = { payload: grant_payload, consumed_at_ms: null, expires_at_ms: grant_ends_at_ms };
  return { credential, session, grant: { ...toPayload("Grant", ofGrant), jti: grant_id ?? "" } };
}

const readCredential = frequentStatement((db, kind: string, hash: string, nowMs: number) =>
  db
    .selectFrom("connect_state as state")
    .leftJoin("local_sessions as session", (join) =>
      join
        .on("session.id", "=", sql<string>`${appSessionId("")} || state.grant_id`)
        .on("session.expires_at_ms", ">", nowMs)
        .on("session.ended_as", "is", null),
    )
    .leftJoin("connect_state as grant", (join) =>
      join
        .onRef("grant.look_up_hash", "=", "state.grant_id")
        .on("grant.kind", "=", "Grant")
        .on("grant.expires_at_ms", ">", nowMs),
    )
    .select(["state.payload", "state.consumed_at_ms", "state.expires_at_ms", "state.grant_id"])
    .select(["grant.payload as grant_payload", "grant.expires_at_ms as grant_ends_at_ms"])
    .select(["session.expires_at_ms as ends_at_ms", "session.kind", "last_date_ms", "last_seen_at_ms"])
    .select(["renewed_from", "bound_at_ms"])
    .where("state.kind", "=", kind)
    .where("state.id_hash", "=", hash)
    .where("state.expires_at_ms", ">", nowMs),
);

/** Refresh tokens. That of the request was read for its rate limit, and the issued one is written once all is accepted. */
export class RefreshTokens extends OAuthState {
  override async upsert(id: string, payload: AdapterPayload, expiresInSeconds: number): Promise<void> {
    const { key, row } = this.rowOf(id, payload, expiresInSeconds);
    const exchange = this.current();
    if (exchange) exchange.issued = { ...key, ...row };
  }

  override async find(id: string): Promise<AdapterPayload | undefined> {
    const { credential } = this.current() ?? {};
    return credential?.kind === this.kind && credential.jti === id ? credential : super.find(id);
  }
}

/** Access tokens, which are session tokens of our own: none is stored. */
export class AccessTokens extends OAuthState {
  override async upsert(): Promise<void> {}
}

/** The id of the owner's grant. A row without one is not approved yet, and can be evicted. */
function grantIdOf({ grantId, result }: AdapterPayload): string | null {
  return grantId ?? result?.consent?.grantId ?? null;
}
