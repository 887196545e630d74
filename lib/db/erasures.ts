import { sql } from "kysely";
import { frequentStatement } from "@/lib/db/frequent-statement";
import type { Db } from "@/lib/db/store";

/** The audit's name for an erasure; its entry contains the hash of the address. */
export const erasure = "person erase";

const erasures = (db: Db) =>
  db.selectFrom("audit_entries").select(["whom", "at_ms"]).where("what", "=", sql.lit(erasure)); // a literal, as in the condition of its index

/** The erased people, by the hash of the address, with the time of erasure. */
export async function findErased(db: Db): Promise<Map<string, number>> {
  const rows = await erasures(db).orderBy("at_ms").execute();
  return new Map(rows.map(({ whom, at_ms }) => [whom ?? "", at_ms]));
}

/** Whether the person with this hash was erased since then. */
export async function wasErasedSince(db: Db, hash: string, sinceMs: number): Promise<boolean> {
  return (await findSince(db, hash, sinceMs)).rows.length > 0;
}

const findSince = frequentStatement((db, hash: string, sinceMs: number) =>
  erasures(db).where("at_ms", ">=", sinceMs).where("whom", "=", hash),
);
