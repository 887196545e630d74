import { type Db, store } from "@/lib/db/store";
import { log } from "@/lib/runtime/log";

/**
 * Reads what one part of a page shows. Returns `undefined` and logs the failure if that fails, because the rest of the
 * page does not need it.
 */
export async function readPart<Part>(
  failed: string,
  read: (db: Db) => Promise<Part>,
): Promise<Part | undefined> {
  try {
    return await read(await store());
  } catch (failure) {
    log().error({ err: failure }, failed);
    return undefined;
  }
}
