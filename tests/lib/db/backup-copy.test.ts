import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, it } from "vitest";
import { readStore } from "@/lib/db/backup-copy";
import { createFolder } from "@/tests/support/leash";

it("a copy has what was committed while something else was reading an earlier state", async () => {
  const dataDir = createFolder();
  const writer = new DatabaseSync(join(dataDir, "store.sqlite"));
  writer.exec(
    "PRAGMA journal_mode = WAL; CREATE TABLE notes (words TEXT); INSERT INTO notes VALUES ('early')",
  );
  const reader = new DatabaseSync(join(dataDir, "store.sqlite"));
  reader.exec("BEGIN; SELECT * FROM notes");
  writer.exec("INSERT INTO notes VALUES ('committed late')");
  const copy = readStore({ dataDir, databaseDirectUrl: undefined });
  const first = copy.next(); // looks at the log before it returns
  reader.exec("ROLLBACK");
  const { value } = await first;
  const bytes = [value ?? Buffer.of()];
  for await (const more of copy) bytes.push(more);
  expect(Buffer.concat(bytes).toString("latin1")).toContain("committed late");
  writer.close();
  reader.close();
});
