import type { Command } from "commander";
import { withExamples } from "@/lib/admin/command";
import type { Result } from "@/lib/admin/print";
import { migrateStore } from "@/lib/db/store";

/** `migrate`: runs ahead of time the migrations that every start runs. */
export function addMigrateCommand(program: Command, print: (result: Result) => Promise<void>): void {
  withExamples(program.command("migrate"), "migrate")
    .description("bring the store's schema up to date, while instances of this build and the one before run")
    .action(async () => {
      const taken = await migrateStore();
      const text = taken.length === 0 ? "The store is up to date." : `Taken: ${taken.join(", ")}.`;
      await print({ json: { taken }, text });
    });
}
