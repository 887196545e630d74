import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Stage } from "@/tests/support/engines";
import type { Service } from "@/tests/support/service";
import { listTextColumns } from "@/tests/support/text-columns";

/** Every place where a text can be, whole: each table, or the store's files as they are; the mails; and the log. */
export async function readEverything(stage: Stage, { dataDir, log }: Service): Promise<string> {
  const files = readdirSync(dataDir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    // The draft of a mail has another name by then.
    .filter((entry) => !entry.name.endsWith(".draft"))
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1"));
  const tables = [...new Set((await listTextColumns(stage)).map(({ table }) => table))];
  const rows = await Promise.all(tables.map((table) => stage.query(`SELECT * FROM ${table}`)));
  return [...files, ...rows.flat().flatMap(Object.values).map(String), log].join("\n");
}
