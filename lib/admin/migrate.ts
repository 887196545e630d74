import type { Command } from "commander";
import { withExamples } from "@/lib/admin/command";
import type { Result } from "@/lib/admin/print";
import { migrateStore } from "@/lib/db/store";

/** `migrate`: runs ahead of time the migrations that every start runs. */
export function addMigrateCommand(program: Command, print: (result: Result) => Promise<void>): void {
  withExamples(program.command("migrate"), "migrate")
    .description("update the schema of the store; instances of this build and the previous one can run")
    .action(async () => {
      const taken = await migrateStore();
      const text = taken.length === 0 ? "The store is up to date." : `Applied: ${taken.join(", ")}.`;
      await print({ json: { taken }, text });
    });
}
