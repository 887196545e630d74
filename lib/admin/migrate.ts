import type { Command } from "commander";
import type { Result } from "@/lib/admin/print";
import { migrateStore } from "@/lib/store/store";

/** `migrate`: what every start does, by itself and ahead of it. */
export function addMigrateCommand(program: Command, print: (result: Result) => Promise<void>): void {
  program
    .command("migrate")
    .description("bring the store's schema up to date, while instances of this build and the one before run")
    .action(async () => {
      const taken = await migrateStore();
      const text = taken.length === 0 ? "The store is up to date." : `Taken: ${taken.join(", ")}.`;
      await print({ json: { taken }, text });
    });
}
