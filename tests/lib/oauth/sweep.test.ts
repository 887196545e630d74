import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import { sweep } from "@/lib/db/old-rows";
import { sweepState } from "@/lib/oauth/sweep";
import { startStage } from "@/tests/support/block";
import { engines } from "@/tests/support/engines";
import { numbersTo, watchQueries } from "@/tests/support/watched-queries";

describe.each(engines)("the sweep of expired OAuth state on $name", async (engine) => {
  const stage = await startStage(engine);

  it("counts what waits for an owner, and no tokens, against what may wait", async () => {
    for (const [kind, expiresAtMs] of [
      ["Interaction", 1],
      ["Interaction", 2],
      ["RefreshToken", 3],
      ["RefreshToken", 4],
    ] as const)
      await stage.query(
        `INSERT INTO connect_state (kind, id_hash, payload, expires_at_ms) VALUES ('${kind}', '${expiresAtMs}', '{}', ${expiresAtMs})`,
      );
    const waiting = {
      table: "connect_state",
      key: ["kind", "id_hash"],
      column: "expires_at_ms",
      untilMs: 0,
      only: sql<boolean>`kind = 'Interaction'`,
    } as const;
    const db = await stage.open();
    expect(await sweep(db, { ...waiting, max: 2 })).toBe(false);
    expect(await sweep(db, { ...waiting, max: 1 })).toBe(true);
    expect(await stage.query("SELECT id_hash FROM connect_state ORDER BY id_hash")).toEqual(
      ["2", "3", "4"].map((id_hash) => ({ id_hash })),
    );
    await stage.query("DELETE FROM connect_state");
  });

  it("deletes 1,000 rows in batches of 100 at most, which it finds by an index", async () => {
    await stage.query(
      `INSERT INTO connect_state (kind, id_hash, payload, grant_id, expires_at_ms)
       SELECT 'RefreshToken', 'hash ' || n, '{}', 'grant', n FROM ${numbersTo(1000)}`,
    );
    await stage.query("ANALYZE connect_state");

    const { watched, queries, results, planOf } = watchQueries(await stage.open());
    await sweepState(watched, 995);
    const deleted = results.map(({ numAffectedRows }) => Number(numAffectedRows ?? 0));
    expect(deleted.filter((rows) => rows > 0)).toEqual([...Array(9).fill(100), 95]);
    expect(await stage.query("SELECT id_hash FROM connect_state")).toHaveLength(5);

    expect(await planOf(queries[0])).toMatch(/(INDEX|Index Scan using) connect_state_expires_at_ms/);
  });
});
