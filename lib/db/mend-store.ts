import { settings } from "@/lib/config/settings";
import { closeToApi } from "@/lib/db/api-roles";
import { raiseSequence } from "@/lib/db/event-sequence";
import type { Db } from "@/lib/db/store";

/** Mends what a provider, or a move to another one, does to our tables, of which no migration knows. It never throws. */
export async function mendStore(db: Db): Promise<void> {
  if (!settings().databaseUrl) return;
  await closeToApi(db);
  await raiseSequence(db);
}
