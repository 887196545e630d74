import { shellAct } from "@/lib/admin/act";
import { mendStore } from "@/lib/db/mend-store";
import { firstMigration } from "@/lib/db/migrations";
import { migratedStore, processStore } from "@/lib/db/store";

/** Runs ahead of time the migrations that every start runs. */
export const migrateAct = shellAct({
  usage: "migrate",
  words: "update the schema of the store; instances of this release and the one before can run",
  async runWithoutStore() {
    const pending = await processStore().findPending();
    if (pending.length > 0 && !pending.includes(firstMigration))
      process.stderr.write(`${pending.join(", ")}: instances of this release and of the one before go on.\n`);
    const taken = await processStore().migrate();
    await mendStore(await migratedStore());
    const text = taken.length === 0 ? "The store is up to date." : `Applied: ${taken.join(", ")}.`;
    return { json: { taken }, text };
  },
});
