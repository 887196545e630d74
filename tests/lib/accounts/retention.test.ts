import { describe, expect, it } from "vitest";
import { deleteExpired } from "@/lib/accounts/leaving/retention";
import { listAudit } from "@/lib/db/audit";
import { startStage } from "@/tests/support/block";
import { engines } from "@/tests/support/engines";
import { createFolder } from "@/tests/support/leash";

const dayMs = 24 * 60 * 60 * 1000;
const nowMs = Date.parse("2026-11-21T09:00:00Z");
const world = { RETENTION_DAYS: "30", LOG_LEVEL: "error" };
const beforeMs = nowMs - 30 * dayMs;
/** One batch has 500 rows. */
const waiting = 1201;

describe.each(engines)("the retention on $name", async (engine) => {
  Object.assign(process.env, world, { DATA_DIR: createFolder() });
  const stage = await startStage(engine);
  const db = await stage.open();

  /** The numbers of rows by table that the audit has of each batch, the largest first: all are of one instant. */
  async function audited(): Promise<string[]> {
    const batches: string[] = [];
    for await (const page of listAudit(db, { what: "retention", who: "service" })) {
      batches.push(...page.map(({ after }) => after ?? ""));
    }
    return batches.sort().reverse();
  }

  it("deletes all that is too old in one round, however many batches that takes, and counts it in the audit", async () => {
    await stage.query(
      `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${waiting})
       INSERT INTO waitlist (email, joined_at_ms)
       SELECT 'waiting-' || i || '@example.com', CASE WHEN i = 1 THEN ${beforeMs + 1} ELSE ${beforeMs} END FROM n`,
    );
    await deleteExpired(db, nowMs);
    expect(await stage.query("SELECT email FROM waitlist")).toEqual([{ email: "waiting-1@example.com" }]);
    expect(await audited()).toEqual(['{"waitlist":500}', '{"waitlist":500}', '{"waitlist":200}']);
  });
});
