import { describe, expect, it } from "vitest";
import { startService, startStage } from "@/tests/support/block";
import { Browser } from "@/tests/support/browser";
import { engines } from "@/tests/support/engines";
import { memoryOf } from "@/tests/support/process-accounts";

const entries = 400_000;

describe.each(engines)("the download of a person, on $name", async (engine) => {
  const stage = await startStage(engine);
  const service = await startService(stage.environment);

  it("has 400,000 entries of credits, of which few are in memory at once", { timeout: 120_000 }, async () => {
    const email = "busy@example.com";
    const owner = await Browser.admit(service, email, "--plan", "licensed");
    const { id } = await service.adminJson("account", "show", email);
    await stage.query(
      `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${entries})
        INSERT INTO credit_entries (id, account_id, thousandths, reason, created_at_ms, place, reference)
        SELECT 'entry-' || i, '${id}', -1, 'answered a customer', 1700000000000 + i, 0, 'job-' || i FROM n`,
    );
    // As both engines do by themselves for a table that has grown slowly.
    await stage.query("ANALYZE credit_entries");
    const { status, text } = await owner.pressAtHome("/home/export");
    expect(status).toBe(200);
    expect(JSON.parse(text).credits).toHaveLength(entries);
    expect(memoryOf(service.pid).peak, "megabytes").toBeLessThan(400);
  });
});
