import { readNetworks, recordNetwork } from "@/lib/auth/sessions/session-network";
import { hourMs } from "@/lib/config/durations";
import { oauthSeconds } from "@/lib/config/lifetimes";
import { frequentStatement } from "@/lib/db/frequent-statement";
import type { Db } from "@/lib/db/store";
import type { Tables } from "@/lib/db/tables";
import { transact } from "@/lib/db/transaction";
import { appSessionId, beginAppSession, endAppSession, recordKey } from "@/lib/oauth/app-session";
import type { IssuedToken } from "@/lib/oauth/exchange";
import { sweepRefreshTokens } from "@/lib/oauth/sweep";
import { keyedHash, keyedHashes } from "@/lib/runtime/keyed-hash";
import { hashSecret } from "@/lib/runtime/secret";

/*
 * The library uses a token up and stores its successor before it has validated the whole request. So its adapters write
 * neither, and both are written here once it has accepted the request: one that is refused, or fails, uses nothing up.
 */

/** What one accepted request uses up and issues. */
export type Rotation = {
  used: { kind: "AuthorizationCode" | "DeviceCode" | "RefreshToken"; jti: string };
  grantId: string;
  /** If a refresh token was used, the one that is issued gets another id. None is for one that is bound to a key. */
  issued: IssuedToken | undefined;
  /** Whether the tokens are bound to a key, and the session's were before. */
  isBound?: boolean;
  wasBound?: boolean;
  /** Whether the session starts with these tokens, of a device. */
  startsSession?: boolean;
  /** The network that gets the tokens, and the one that got the last ones. */
  network?: string | undefined;
  lastNetwork?: string | undefined;
};

/** The refresh token to send, if it is not the library's; nothing is issued for a code or token that must not be used again. */
export type Rotated = { successor?: string } | "used before";

/**
 * Writes both, and the start of a device's session, in one transaction. A code is used once (RFC 6749 §4.1.2). Refresh
 * tokens are one chain: a token may be used again while a minute has not passed since its first use, or while its successor
 * was not used, because the answer may have been lost, and it gets the same successor. Any other use is refused. It ends
 * the session too (RFC 9700 §4.14.2), unless it comes from the network that got the last tokens: agents run several
 * sessions with one token, and one that wakes late is a step behind. A token that is bound to a key has no successor: it lasts
 * as long as the session, because its copies are worth nothing (RFC 9700 §4.14.2).
 */
export async function rotateTokens(db: Db, rotation: Rotation, nowMs: number): Promise<Rotated> {
  const { grantId, startsSession, network, lastNetwork, isBound = false, wasBound } = rotation;
  const outcome = await transact(db, async (transaction) => {
    const written = await write(transaction, rotation, nowMs);
    if (written === "used before" || "replayOf" in written) return written;
    if (startsSession) await beginAppSession(transaction, grantId, nowMs);
    if (isBound && !wasBound) await recordKey(transaction, grantId, nowMs);
    if (network && network !== lastNetwork)
      await recordNetwork(transaction, appSessionId(grantId), { network, isBound }, nowMs);
    return written;
  });
  if (outcome === "used before" || !("replayOf" in outcome)) return outcome;
  await endAppSession(db, outcome.replayOf, "app replay", nowMs);
  return "used before";
}

async function write(
  transaction: Db,
  { used: { kind, jti: id }, issued, network }: Rotation,
  nowMs: number,
): Promise<Rotated | { replayOf: string }> {
  const idHash = hashSecret("connect", id);
  if (kind === "RefreshToken" && !issued) {
    await extend(transaction, idHash, nowMs);
    return {};
  }
  // Uses of one token take turns, because each update or lock waits for the one before. A use of the successor that
  // commits at the same moment counts as later.
  const [firstUse] = (await markFirstUse(transaction, kind, idHash, nowMs)).rows;
  if (kind !== "RefreshToken") {
    if (!firstUse) return "used before";
    await issue(transaction, issued, { parent_hash: idHash });
    return {};
  }
  // The successor is derived, so that a repeated request gets the same one and no token is stored: only someone who
  // holds both the token and the secret can find it.
  const successor = keyedHash("refresh-token:v1", id);
  let expires_at_ms = firstUse?.expires_at_ms;
  if (!firstUse) {
    const use = await lockUsed(transaction, idHash);
    expires_at_ms = use?.expires_at_ms;
    if (!use?.grant_id) return "used before";
    const isLate = nowMs - (use.consumed_at_ms ?? nowMs) >= oauthSeconds.refreshTokenReuse * 1000;
    const successors = await listSuccessors(transaction, use.grant_id, idHash);
    const stored = keyedHashes("refresh-token:v1", id).find((derived) =>
      successors.some(({ id_hash }) => id_hash === hashSecret("connect", derived)),
    );
    // If it has not used a successor, the answer may have been lost.
    const wasAnswered =
      successors.length === 0 || successors.some(({ consumed_at_ms }) => consumed_at_ms !== null);
    if (isLate && wasAnswered) {
      const last = await findLastNetwork(transaction, use.grant_id);
      return last !== undefined && last === network ? "used before" : { replayOf: use.grant_id };
    }
    if (stored) return { successor: stored };
    // Those that none of our secrets derives are used up: someone who uses one of them later ends the session.
    if (isLate) {
      await transaction
        .updateTable("connect_state")
        .set({ consumed_at_ms: nowMs })
        .where("grant_id", "=", use.grant_id)
        .where("parent_hash", "=", idHash)
        .execute();
    }
  }
  // A clock that is behind, and set right later, costs the app nothing.
  const lasting = issued && { ...issued, expires_at_ms: Math.max(issued.expires_at_ms, expires_at_ms ?? 0) };
  await issue(transaction, lasting, { parent_hash: idHash, id_hash: hashSecret("connect", successor) });
  return { successor };
}

const markFirstUse = frequentStatement((db, kind: string, idHash: string, nowMs: number) =>
  db
    .updateTable("connect_state")
    .set({ consumed_at_ms: nowMs })
    .where("kind", "=", kind)
    .where("id_hash", "=", idHash)
    .where("consumed_at_ms", "is", null)
    .returning("expires_at_ms"),
);

/** Lets a refresh token last as long as one that is issued now. At most one write an hour. */
async function extend(transaction: Db, idHash: string, nowMs: number): Promise<void> {
  const expires_at_ms = nowMs + oauthSeconds.refreshToken * 1000;
  await transaction
    .updateTable("connect_state")
    .set({ expires_at_ms })
    .where("kind", "=", "RefreshToken")
    .where("id_hash", "=", idHash)
    .where("expires_at_ms", "<", expires_at_ms - hourMs)
    .execute();
}

/** Stores the refresh token that is issued. One issue in 16 looks for old ones: to find them takes as long as the rest. */
async function issue(
  transaction: Db,
  issued: IssuedToken | undefined,
  chain: { parent_hash: string; id_hash?: string },
): Promise<void> {
  if (!issued) return;
  const { id_hash, payload, grant_id, expires_at_ms, parent_hash } = { ...issued, ...chain };
  const token = { kind: "RefreshToken", id_hash, payload, grant_id, expires_at_ms, parent_hash };
  await insertToken(transaction, token);
  if (Math.random() < 1 / 16) await sweepRefreshTokens(transaction, issued.grant_id);
}

type StoredToken = Omit<Tables["connect_state"], "look_up_hash" | "consumed_at_ms">;

const insertToken = frequentStatement((db, token: StoredToken) =>
  db.insertInto("connect_state").values(token),
);

function lockUsed(transaction: Db, idHash: string) {
  return transaction
    .selectFrom("connect_state")
    .select(["grant_id", "consumed_at_ms", "expires_at_ms"])
    .where("kind", "=", "RefreshToken")
    .where("id_hash", "=", idHash)
    .forUpdate()
    .executeTakeFirst();
}

async function findLastNetwork(transaction: Db, grantId: string): Promise<string | undefined> {
  const sessions = transaction.selectFrom("local_sessions").select("renewed_from");
  const session = await sessions.where("id", "=", appSessionId(grantId)).executeTakeFirst();
  return readNetworks(session?.renewed_from ?? null)[0];
}

/** The refresh tokens that were issued for one: several if the secret of the first has gone. */
function listSuccessors(transaction: Db, grantId: string, idHash: string) {
  return transaction
    .selectFrom("connect_state")
    .select(["id_hash", "consumed_at_ms"])
    .where("grant_id", "=", grantId)
    .where("parent_hash", "=", idHash)
    .execute();
}
