import { describe, expect, it } from "vitest";
import { frequentStatement } from "@/lib/db/frequent-statement";
import { listOf, rowsOf } from "@/lib/db/row-list";
import { transact } from "@/lib/db/transaction";
import { startStageForEach } from "@/tests/support/block";
import { everyEngine } from "@/tests/support/engines";

describe.each(everyEngine)("a frequent statement on $name", async (engine) => {
  const { stage } = await startStageForEach(engine);

  it("is built once, and executed with the lists and values that it is given", async () => {
    const db = await stage.open();
    let builds = 0;
    const join = frequentStatement(
      (
        db,
        names: readonly string[],
        least: number,
        rows: readonly { name: string; size: number }[],
        but: string | null,
      ) => {
        builds++;
        return db
          .selectFrom(rowsOf(db, rows, { name: "text", size: "bigint" }))
          .select(["name", "size"])
          .where("name", "in", listOf(db, names))
          .where("size", ">=", least)
          .where("name", "is distinct from", but)
          .orderBy("name");
      },
    );
    const rows = ["one", "two", "three"].map((name, at) => ({ name, size: at + 1 }));
    expect((await join(db, ["one", "three"], 1, rows, null)).rows).toEqual([rows[0], rows[2]]);
    expect((await join(db, ["one", "two", "three"], 2, rows, "three")).rows).toEqual([rows[1]]);
    expect((await join(db, [], 0, [], "")).rows).toEqual([]);
    const inside = await transact(db, (transaction) => join(transaction, ["two"], 0, rows, "one"));
    expect(inside.rows).toEqual([rows[1]]);
    expect(builds).toBe(1);
  });

  it("takes the columns of a row by their names, in whatever order they come", async () => {
    const db = await stage.open();
    const insert = frequentStatement((db, row: { email_hash: string; created_at_ms: number }) =>
      db.insertInto("email_suppressions").values(row),
    );
    await insert(db.withoutPlugins(), { email_hash: "one", created_at_ms: 1 });
    await insert(db.withoutPlugins(), { created_at_ms: 2, email_hash: "two" });
    const stored = db.selectFrom("email_suppressions").select(["email_hash", "created_at_ms"]);
    expect(await stored.orderBy("created_at_ms").execute()).toEqual([
      { email_hash: "one", created_at_ms: 1 },
      { email_hash: "two", created_at_ms: 2 },
    ]);
  });

  it("cannot be built with what is computed from a value, which would stay what it was first", async () => {
    const db = await stage.open();
    const readAfter = frequentStatement((db, atMs: number) =>
      db
        .selectFrom("accounts")
        .select("id")
        .where("created_at_ms", ">", atMs - 1000),
    );
    expect(() => readAfter(db, 5000)).toThrow(TypeError);
  });
});
