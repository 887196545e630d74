import { AsyncLocalStorage } from "node:async_hooks";
import type { AdapterPayload } from "oidc-provider";
import { readNetworks } from "@/lib/auth/sessions/renewal-networks";
import { oauthSeconds } from "@/lib/config/lifetimes";
import type { Db } from "@/lib/db/store";
import type { Tables } from "@/lib/db/tables";
import { transact } from "@/lib/db/transaction";
import {
  type AppEnd,
  appSessionId,
  beginAppSession,
  endAppSession,
  recordNetwork,
} from "@/lib/oauth/app-session";
import { sweepRefreshTokens } from "@/lib/oauth/sweep";
import { keyedHash, keyedHashes } from "@/lib/runtime/keyed-hash";
import { hashSecret } from "@/lib/runtime/secret";

const running = new AsyncLocalStorage<TokenRotation>();

/**
 * The tokens that one request to the authorization server uses up and issues. The library uses a token up and stores its successor
 * before it has validated the whole request. So both are only noted, and {@link commit} writes them once the library has
 * accepted the request: a request that is refused, or fails, uses nothing up.
 */
export class TokenRotation {
  /** The code or refresh token that is used up. */
  used: { kind: string; id: string } | undefined;
  /** The refresh token that is issued. If another one was used, {@link commit} gives it another id. */
  issued: Omit<Tables["connect_state"], "parent_hash"> | undefined;
  /** The uid of the request that is answered, and the code for it: as the library has made it, and as it is sent. */
  request = "";
  code: { made: string; sent: string; isOver: boolean } | undefined;
  /** What the library would store of the access token that is issued. */
  accessToken: AdapterPayload | undefined;
  /** The payload of the valid code or token that the request carries. */
  credential: AdapterPayload | undefined;
  /** Whether the session starts with these tokens, of a device. */
  startsSession = false;
  /** When the session ends whose tokens are issued, and the network that it got its last ones from. */
  sessionEndsAtMs = 0;
  lastNetwork: string | undefined;
  failure: unknown;

  /**
   * @param endsSessionAs - why a session ends that this request ends
   * @param network - that gets the tokens
   * @param devicesNetwork - of a device that asks for a code
   */
  constructor(
    readonly endsSessionAs: AppEnd,
    readonly network?: string,
    readonly devicesNetwork?: string,
  ) {}

  /** The rotation of the request that is being answered. Throws if there is none. */
  static current(): TokenRotation {
    const rotation = running.getStore();
    if (!rotation) throw new Error("no request to the authorization server is being answered");
    return rotation;
  }

  /** The payload of the valid code or token of this client that a request carries while it is answered. */
  static credentialOf(clientId: string): AdapterPayload | undefined {
    const { credential } = running.getStore() ?? {};
    return credential?.clientId === clientId ? credential : undefined;
  }

  run<T>(work: () => Promise<T>): Promise<T> {
    return running.run(this, work);
  }

  /**
   * Writes both, and the start of a device's session, in one transaction. A code is used once (RFC 6749 §4.1.2). Refresh tokens are one chain: a token may be
   * used again while a minute has not passed since its first use, or while its successor was not used, because the answer
   * may have been lost, and it gets the same successor. Any other use is refused. It ends the session too (RFC 9700
   * §4.14.2), unless it comes from the network that got the last tokens: agents run several sessions with one token, and
   * one that wakes late is a step behind.
   *
   * @returns the successor of a refresh token that was used; `undefined` if the code or token must not be used again:
   *   nothing is issued
   */
  async commit(db: Db, nowMs: number): Promise<{ successor?: string } | undefined> {
    const { used } = this;
    if (!used) return {};
    const outcome = await transact(db, async (transaction) => {
      const written = await this.write(transaction, used, nowMs);
      const grantId = this.issued?.grant_id ?? this.accessToken?.grantId;
      if (!written || "replayOf" in written || !grantId) return written;
      if (this.startsSession) await beginAppSession(transaction, grantId, nowMs);
      if (this.network && this.network !== this.lastNetwork) {
        await recordNetwork(transaction, grantId, this.network, nowMs);
      }
      return written;
    });
    if (outcome && "replayOf" in outcome) {
      await endAppSession(db, outcome.replayOf, "app replay", nowMs);
      return undefined;
    }
    return outcome;
  }

  private async write(
    transaction: Db,
    { kind, id }: { kind: string; id: string },
    nowMs: number,
  ): Promise<{ successor?: string } | { replayOf: string } | undefined> {
    const idHash = hashSecret("connect", id);
    // Uses of one token take turns, because each update or lock waits for the one before. A use of the successor that
    // commits at the same moment counts as later.
    const firstUse = await transaction
      .updateTable("connect_state")
      .set({ consumed_at_ms: nowMs })
      .where("kind", "=", kind)
      .where("id_hash", "=", idHash)
      .where("consumed_at_ms", "is", null)
      .returning("grant_id")
      .executeTakeFirst();
    if (kind !== "RefreshToken") {
      if (!firstUse) return undefined;
      await this.issue(transaction, { parent_hash: idHash });
      return {};
    }
    // The successor is derived, so that a repeated request gets the same one and no token is stored: only someone who
    // holds both the token and the secret can find it.
    const successor = keyedHash("refresh-token:v1", id);
    if (!firstUse) {
      const use = await lockUsed(transaction, idHash);
      if (!use?.grant_id) return undefined;
      const isLate = nowMs - (use.consumed_at_ms ?? nowMs) >= oauthSeconds.refreshTokenReuse * 1000;
      const successors = await listSuccessors(transaction, use.grant_id, idHash);
      const stored = keyedHashes("refresh-token:v1", id).find((derived) =>
        successors.some(({ id_hash }) => id_hash === hashSecret("connect", derived)),
      );
      // If it has not used a successor, the answer may have been lost. A build that stored none did not say whose it is.
      const wasAnswered =
        successors.length === 0 || successors.some(({ consumed_at_ms }) => consumed_at_ms !== null);
      if (isLate && wasAnswered) {
        const last = await findLastNetwork(transaction, use.grant_id);
        return last !== undefined && last === this.network ? undefined : { replayOf: use.grant_id };
      }
      if (stored) return { successor: stored };
      // Those that this build cannot derive are used up: someone who uses one of them later ends the session.
      if (isLate) {
        await transaction
          .updateTable("connect_state")
          .set({ consumed_at_ms: nowMs })
          .where("grant_id", "=", use.grant_id)
          .where("parent_hash", "=", idHash)
          .execute();
      }
    }
    await this.issue(transaction, { parent_hash: idHash, id_hash: hashSecret("connect", successor) });
    return { successor };
  }

  /** Stores the refresh token that is issued. One issue in 16 looks for old ones: to find them takes as long as the rest. */
  private async issue(transaction: Db, chain: { parent_hash: string; id_hash?: string }): Promise<void> {
    if (!this.issued) return;
    await transaction
      .insertInto("connect_state")
      .values({ ...this.issued, ...chain })
      .execute();
    if (Math.random() < 1 / 16) await sweepRefreshTokens(transaction, this.issued.grant_id);
  }
}

function lockUsed(transaction: Db, idHash: string) {
  return transaction
    .selectFrom("connect_state")
    .select(["grant_id", "consumed_at_ms"])
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

/** The refresh tokens that were issued for one: several by an earlier build, or if the secret of the first has gone. */
function listSuccessors(transaction: Db, grantId: string, idHash: string) {
  return transaction
    .selectFrom("connect_state")
    .select(["id_hash", "consumed_at_ms"])
    .where("grant_id", "=", grantId)
    .where("parent_hash", "=", idHash)
    .execute();
}
