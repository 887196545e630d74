import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { BackendCaller, withBackendApi } from "@/tests/support/backend-caller";
import { startService, startStage } from "@/tests/support/block";
import { engines } from "@/tests/support/engines";

const many = 300_000;

describe.each(engines)("the change of a plan that 300,000 accounts have, on $name", async (engine) => {
  const stage = await startStage(engine, { conflicts: false });
  const service = await startService(await withBackendApi(stage.environment));
  const worker = await BackendCaller.add(service, "worker");

  it("counts at once, is told to all, and no spend is refused or waits for a second meanwhile", {
    timeout: 400_000,
  }, async () => {
    const other = await service.adminJson<{ id: string }>(
      ..."account add other@example.com --plan hobby --credits 1000".split(" "),
    );
    for (let from = 0; from < many; from += 50_000)
      await stage.query(
        `WITH RECURSIVE n (i) AS (SELECT ${from + 1} UNION ALL SELECT i + 1 FROM n WHERE i < ${from + 50_000})
        INSERT INTO accounts (id, email, plan, created_at_ms) SELECT 'acc_' || i, 'ceo' || i || '@example.com', 'hobby', 1 FROM n`,
      );
    await stage.query("DELETE FROM events");
    await service.adminJson("plan", "set", "hobby", "--feature", "voice");
    const headers = { Authorization: `Bearer ${await service.token("other@example.com")}` };
    expect((await service.ask("/api/entitlement", { headers })).text).toContain('"features":["voice"]');
    const took: number[] = [];
    const begunMs = performance.now();
    while ((await stage.query("SELECT 1 FROM changed_plans")).length > 0) {
      const fromMs = performance.now();
      const spend = { credits: "0.001", reason: "A job" };
      expect((await worker.post(`/v1/accounts/${other.id}/spends`, spend)).status).toBe(200);
      took.push(performance.now() - fromMs);
      await sleep(50);
    }
    took.sort((one, another) => one - another);
    const most = Math.round(took.at(-1) ?? 0);
    const middle = Math.round(took[took.length >> 1] ?? 0);
    const seconds = Math.round((performance.now() - begunMs) / 1000);
    process.stdout.write(
      `${engine.name}: told in ${seconds} s; a spend took ${middle} ms, at most ${most} ms\n`,
    );
    expect(most).toBeLessThan(1000);
    const told = "type = 'entitlement.changed'";
    const [events] = await stage.query(
      `SELECT count(*) AS all_of_them, count(DISTINCT account_id) AS accounts FROM events WHERE ${told}`,
    );
    expect(Object.values(events ?? {}).map(Number)).toEqual([many + 1, many + 1]);
  });
});
