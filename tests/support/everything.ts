import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Stage } from "@/tests/support/engines";
import type { Service } from "@/tests/support/service";
import { listTables } from "@/tests/support/stores";

/** All text that the service stores: each table or the store's files, the mails and the log. */
export async function readEverything(stage: Stage, { dataDir, log }: Service): Promise<string> {
  const files = readdirSync(dataDir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    // A mail's draft may have been renamed by then.
    .filter((entry) => !entry.name.endsWith(".draft"))
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1"));
  const tables = await listTables(stage);
  const rows = await Promise.all(tables.map((table) => stage.query(`SELECT * FROM ${table}`)));
  return [...files, ...rows.flat().flatMap(Object.values).map(String), log].join("\n");
}
