import { type Db, store } from "@/lib/db/store";
import { log } from "@/lib/runtime/log";

/**
 * Reads what one part of a page shows: `undefined`, and a line in the log, if that fails. The rest is shown.
 *
 * @param requestId - of a page that is nothing without it, and shows its reader this id
 */
export async function readPart<Part>(
  failed: string,
  read: (db: Db) => Promise<Part>,
  requestId?: string,
): Promise<Part | undefined> {
  try {
    return await read(await store());
  } catch (failure) {
    log().error({ err: failure, requestId }, failed);
    return undefined;
  }
}
