import type { AdapterPayload } from "oidc-provider";
import { oauthSeconds } from "@/lib/config/lifetimes";
import { hasRow } from "@/lib/db/has-row";
import { store } from "@/lib/db/store";
import { transact } from "@/lib/db/transaction";
import { OAuthState } from "@/lib/oauth/adapter";
import { beginAppSession } from "@/lib/oauth/app-session";
import { keyedHash } from "@/lib/runtime/keyed-hash";
import { hashSecret } from "@/lib/runtime/secret";

/*
 * A browser may not open the app to which it is sent with the code: it asks first, or wants a click. So the page with the
 * link can lead there again, with the same code, for as long as that code lives and was not used.
 */

/** The requests that apps make in a browser. */
export class Requests extends OAuthState {
  /** The library destroys a request when it answers it. It then lasts as long as the first code for it. */
  override async destroy(uid: string): Promise<void> {
    const nowMs = Date.now();
    await (await store())
      .updateTable("connect_state")
      .set({ consumed_at_ms: nowMs, expires_at_ms: nowMs + oauthSeconds.code * 1000 })
      .where("kind", "=", this.kind)
      .where("id_hash", "=", hashSecret("connect", uid))
      .where("consumed_at_ms", "is", null)
      .execute();
  }
}

/**
 * The codes for them. Each is derived from its request, so that it can be sent again and is not stored. With the first, the
 * app's session starts.
 */
export class Codes extends OAuthState {
  override async upsert(id: string, payload: AdapterPayload, expiresInSeconds: number): Promise<void> {
    const exchange = this.current();
    if (!exchange?.uid) throw new Error("a code is issued for no request");
    const sent = keyedHash("authorization-code:v1", exchange.uid);
    const { key, row } = this.rowOf(sent, payload, expiresInSeconds);
    const isFirst = await transact(await store(), async (transaction) => {
      const insert = transaction
        .insertInto("connect_state")
        .values({ ...key, ...row })
        .onConflict((conflict) => conflict.columns(["kind", "id_hash"]).doNothing());
      if (!(await hasRow(insert.returning("kind")))) return false;
      await beginAppSession(transaction, payload.grantId ?? "", Date.now());
      return true;
    });
    const earlier = isFirst ? undefined : await this.read("id_hash", sent);
    exchange.code = { made: id, sent, isOver: !isFirst && (!earlier || earlier.consumed !== undefined) };
  }
}
