import { type Db, store } from "@/lib/db/store";
import { ApiError } from "@/lib/http/errors";
import { log } from "@/lib/runtime/log";

/** Uses the store. A failure is logged and becomes a 503 with `Retry-After`: the client can send the request again. */
export async function withStore<T>(work: (db: Db) => Promise<T>): Promise<T> {
  try {
    return await work(await store());
  } catch (failure) {
    log().error({ err: failure }, "the authorization server could not use the store");
    throw new ApiError("unavailable");
  }
}
