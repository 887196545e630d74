import { AsyncLocalStorage } from "node:async_hooks";
import type { AdapterPayload } from "oidc-provider";
import { oauthBounds } from "@/lib/config/limits";
import type { Db } from "@/lib/db/store";
import type { Tables } from "@/lib/db/tables";
import { transact } from "@/lib/db/transaction";
import { type AppEnd, endAppSession } from "@/lib/oauth/app-session";
import { lifetimes } from "@/lib/oauth/lifetimes";

type StateRow = Tables["connect_state"];

const running = new AsyncLocalStorage<TokenExchange>();

/**
 * The tokens that one request to the authorization server uses up and issues. The library uses a token up and stores its successor
 * before it has validated the whole request. So both are only noted, and {@link commit} writes them once the library has
 * accepted the request: a request that is refused, or fails, uses nothing up.
 */
export class TokenExchange {
  /** The code or refresh token that is used up. */
  used: Pick<StateRow, "kind" | "id_hash"> | undefined;
  /** The refresh token that is issued. */
  issued: Omit<StateRow, "parent_hash"> | undefined;
  /** The refresh tokens that were read: the rate limit and the library ask for the same one. */
  readonly refreshTokens = new Map<string, Promise<AdapterPayload | undefined>>();
  /** Why the library failed. */
  failure: unknown;

  /** @param endsSessionAs - why a session ends that this request ends */
  constructor(readonly endsSessionAs: AppEnd) {}

  /** The exchange of the request that is being answered. Throws if there is none. */
  static current(): TokenExchange {
    const exchange = running.getStore();
    if (!exchange) throw new Error("no request to the authorization server is being answered");
    return exchange;
  }

  run<T>(work: () => Promise<T>): Promise<T> {
    return running.run(this, work);
  }

  /**
   * Writes both in one transaction. A code is used once (RFC 6749 §4.1.2). A refresh token may be used again while a minute
   * has not passed since its first use, or while none of its successors was used, because the answer may have been lost;
   * otherwise it is a replay, and its session ends (RFC 9700 §4.14.2).
   *
   * @returns false if the code or token must not be used again: nothing is issued
   */
  async commit(db: Db, nowMs: number): Promise<boolean> {
    const { used } = this;
    if (!used) return true;
    const outcome = await transact(db, (transaction) => this.write(transaction, used, nowMs));
    if (outcome.replayOf) await endAppSession(db, outcome.replayOf, "app replay", nowMs);
    return outcome.isWritten;
  }

  private async write(
    transaction: Db,
    { kind, id_hash }: Pick<StateRow, "kind" | "id_hash">,
    nowMs: number,
  ): Promise<{ isWritten: boolean; replayOf?: string | null }> {
    const isRefresh = kind === "RefreshToken";
    // The update locks the row, so that the uses of one token take turns, and keeps the time of the first. A use of a
    // successor that commits at the same moment counts as later.
    let use = transaction
      .updateTable("connect_state")
      .set(({ fn, val }) => ({ consumed_at_ms: fn.coalesce("consumed_at_ms", val(nowMs)) }))
      .where("kind", "=", kind)
      .where("id_hash", "=", id_hash);
    if (!isRefresh) use = use.where("consumed_at_ms", "is", null);
    const row = await use.returning(["grant_id", "consumed_at_ms"]).executeTakeFirst();
    if (!row) return { isWritten: false };
    const { grant_id } = row;
    const usedForMs = nowMs - (row.consumed_at_ms ?? nowMs);
    if (usedForMs >= lifetimes.refreshTokenReuse * 1000 && (await isReplay(transaction, grant_id, id_hash))) {
      return { isWritten: false, replayOf: grant_id };
    }
    if (this.issued) {
      await transaction
        .insertInto("connect_state")
        .values({ ...this.issued, parent_hash: id_hash })
        .execute();
      await deleteOldest(transaction, grant_id);
    }
    return { isWritten: true };
  }
}

/**
 * Whether an app that uses a token again has had the answer to its first use: it has used a successor. If it has not, the
 * answer may have been lost. A build that did not store whose successor a token is has stored none.
 */
async function isReplay(transaction: Db, grantId: string | null, idHash: string): Promise<boolean> {
  const successors = await transaction
    .selectFrom("connect_state")
    .select("consumed_at_ms")
    .where("grant_id", "=", grantId)
    .where("parent_hash", "=", idHash)
    .execute();
  return successors.length === 0 || successors.some(({ consumed_at_ms }) => consumed_at_ms !== null);
}

/** Deletes the oldest refresh tokens of a grant above the maximum, so that an app that renews all the time fills no store. */
async function deleteOldest(transaction: Db, grantId: string | null): Promise<void> {
  const { refreshTokens } = oauthBounds;
  const oldest = transaction
    .selectFrom("connect_state")
    .select("id_hash")
    .where("kind", "=", "RefreshToken")
    .where("grant_id", "=", grantId)
    .orderBy("expires_at_ms", "desc")
    .limit(refreshTokens)
    .offset(refreshTokens);
  // PostgreSQL also locks, and so writes, the rows that an offset skips: `oldest` itself must lock none.
  const unlocked = transaction
    .selectFrom("connect_state")
    .select("id_hash")
    .where("kind", "=", "RefreshToken")
    .where("id_hash", "in", oldest)
    .forUpdate()
    .skipLocked();
  await transaction
    .deleteFrom("connect_state")
    .where("kind", "=", "RefreshToken")
    .where("id_hash", "in", unlocked)
    .execute();
}
