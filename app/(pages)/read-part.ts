import { type Db, store } from "@/lib/db/store";
import { log } from "@/lib/runtime/log";

/** Reads what one part of a page shows: `undefined`, and a line in the log, if that fails. The rest is shown. */
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
