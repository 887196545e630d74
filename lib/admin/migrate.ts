import type { AdminCommand } from "@/lib/admin/command";
import { processStore } from "@/lib/db/store";

/** `migrate`: runs ahead of time the migrations that every start runs. */
export function addMigrateCommand(program: AdminCommand): void {
  program
    .add("migrate", "update the schema of the store; instances of this build and the previous one can run")
    .doesWithoutStore(async () => {
      const taken = await processStore().migrate();
      const text = taken.length === 0 ? "The store is up to date." : `Applied: ${taken.join(", ")}.`;
      return { json: { taken }, text };
    });
}
