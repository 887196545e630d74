import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { BackendCaller, withBackendApi } from "@/tests/support/backend-caller";
import { startService, startStage } from "@/tests/support/block";
import { engines } from "@/tests/support/engines";

const entries = 400_000;

describe.each(engines)(
  "the erasure of a person with 400,000 entries of credits, on $name",
  async (engine) => {
    const stage = await startStage(engine, { conflicts: false });
    const service = await startService(await withBackendApi(stage.environment));
    const worker = await BackendCaller.add(service, "worker");
    const addAccount = (email: string, credits: number) =>
      service.adminJson<{ id: string }>("account", "add", email, "--credits", String(credits));

    it("comes to its end, and no spend of another account is refused meanwhile", {
      timeout: 240_000,
    }, async () => {
      const email = "busy@example.com";
      const { id } = await addAccount(email, entries);
      const other = await addAccount("other@example.com", 1000);
      await stage.query(
        `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${entries})
        INSERT INTO credit_entries (id, account_id, thousandths, reason, created_at_ms, place, backend_id)
        SELECT 'entry-' || i, '${id}', -1, 'answered a customer', 1700000000000 + i, 0, 'worker' FROM n`,
      );
      await stage.query("ANALYZE credit_entries");
      const erasing = service.adminJson("person", "erase", email);
      let isOver = false;
      void erasing.finally(() => {
        isOver = true;
      });
      while (!isOver) {
        const spend = { credits: "0.001", reason: "A job" };
        expect((await worker.post(`/v1/accounts/${other.id}/spends`, spend)).status).toBe(200);
        await sleep(50);
      }
      expect(await erasing).toEqual({ erased: email });
      const left = await stage.query(`SELECT 1 FROM credit_entries WHERE account_id = '${id}'`);
      expect(left).toEqual([]);
    });
  },
);
