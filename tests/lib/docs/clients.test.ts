import { beforeEach, describe, expect, it } from "vitest";
import { CompanyGate } from "@/lib/docs/clients/corner-office";
import { borrowService } from "@/tests/support/block";
import { CompanyGate as CompanyGateBeforePlans } from "@/tests/support/client-1.1.0";
import { engines } from "@/tests/support/engines";
import { emptyTables } from "@/tests/support/lent-service";

describe.each(engines)("the client file, with the service on $name", async (engine) => {
  const { service, stage } = await borrowService(engine);
  const url = `http://localhost:${service.port}`; // whatever its APP_URL is
  const email = "ceo@example.com";
  const admin = (words: string) => service.adminJson(...words.split(" "));

  beforeEach(() => emptyTables(stage));

  it("of 1.1.0, before plans, runs and stops as it did", async () => {
    await admin("plan set studio --feature voice --limit assistants=7 --limit seats=none");
    await admin(`account add ${email} --plan studio`);
    const token = await service.token(email);
    const gate = new CompanyGateBeforePlans(url, async () => token);
    expect(await gate.ask()).toBeGreaterThan(500);
    expect([gate.mayRun(), gate.why]).toEqual([true, "licensed"]);
    await admin(`account set ${email} --plan trial --trial-ends 2099-01-01`);
    await gate.ask();
    expect([gate.mayRun(), gate.why]).toEqual([true, "trial"]);
    await admin(`account set ${email} --trial-ends 2020-01-01`);
    await gate.ask();
    expect([gate.mayRun(), gate.why]).toEqual([false, "trial_ended"]);
  });

  it("says what the plan contains, and what one edit of it adds, at the next question", async () => {
    await admin("plan set studio --feature voice --limit assistants=7 --limit seats=none");
    await admin(`account add ${email} --plan studio`);
    const token = await service.token(email);
    const gate = new CompanyGate(url, async () => token);
    const none = Number.POSITIVE_INFINITY;
    const told = async () => {
      expect(await gate.ask()).toBeLessThanOrEqual(15 * 60);
      const limits = ["assistants", "seats", "projects"].map((name) => gate.limit(name));
      return [gate.plan, gate.has("voice"), gate.has("video"), ...limits];
    };
    expect(await told()).toEqual(["studio", true, false, 7, none, none]);
    await admin("plan set studio --feature voice --feature video --limit projects=20");
    expect(await told()).toEqual(["studio", true, true, 7, none, 20]);
    await admin(`account set ${email} --plan hobby`);
    expect(await told()).toEqual(["hobby", false, false, none, none, none]);
  });
});
