import { afterEach, describe, expect, it } from "vitest";
import { leaseMs, openAutomaticPurchases } from "@/tests/support/automatic-purchases";
import { withBackendApi } from "@/tests/support/backend-caller";
import { startService, startShop } from "@/tests/support/block";
import { eventually } from "@/tests/support/databases";
import { engines } from "@/tests/support/engines";

describe.each(engines)("automatic purchases, on $name", async (engine) => {
  const shop = await startShop(engine, await withBackendApi());
  const { service, stripe } = shop;
  const { admit, spend, balanceOf, paid, stopMails, round } = await openAutomaticPurchases(shop);
  afterEach(() => {
    stripe.faultOf = () => "none";
    stripe.whenDone = () => {};
    stripe.takeEvents();
  });

  const steps = ["POST /v1/invoices", "POST /v1/invoiceitems", "/finalize", "/pay"];
  const isStep = (request: string, step: string) =>
    step.startsWith("/") ? request.endsWith(step) : request === step;

  it.each(
    steps.flatMap((step) =>
      (["500", "done500", "lost", "429"] as const).map((fault) => [step, fault] as const),
    ),
  )("charge once although Stripe's answer to %s was %s", async (step, fault) => {
    const buyer = await admit(150);
    await round();
    await spend(buyer, "60");
    stripe.faultOf = (request) => (isStep(request, step) ? fault : "none");
    for (let n = 0; n < 2; n++) {
      await shop.reconcile();
      shop.pass(leaseMs + 1000);
    }
    stripe.faultOf = () => "none";
    // Stripe repeats its failures for a day, and a key is another one an hour later.
    for (let n = 0; n < 3; n++) {
      await round();
      shop.pass(20 * 60_000);
    }
    shop.pass(20 * 60_000);
    await shop.reconcile();
    await shop.reconcile();
    expect([paid(buyer), await balanceOf(buyer)]).toEqual([1, 590]);
    expect(await stopMails(buyer)).toEqual([]);
  });

  it("charge once on several instances at once", async () => {
    const environment = { ...service.environment, ...(await withBackendApi()) };
    const { PORT: _, BACKEND_URL: __, ...others } = environment;
    await startService(others, { expectErrors: true });
    for (let n = 0; n < 3; n++) {
      const buyer = await admit(150);
      await round();
      await spend(buyer, "60");
      await Promise.all(Array.from({ length: 4 }, () => shop.reconcile()));
      await eventually(async () => expect(await balanceOf(buyer)).toBe(590));
      expect(paid(buyer)).toBe(1);
    }
  });

  it("charge once although the instance is killed at any step", async () => {
    for (const step of steps) {
      const buyer = await admit(150);
      await round();
      await spend(buyer, "60");
      let kills = 0;
      let killing: Promise<void> | undefined;
      stripe.whenDone = async (request) => {
        if (!isStep(request, step) || kills++ > 0) return;
        killing = service.kill();
        await killing;
      };
      // The server's own round, which dies with it.
      await eventually(() => expect(kills).toBeGreaterThan(0));
      await killing;
      stripe.whenDone = () => {};
      await service.run();
      shop.pass(leaseMs + 1000);
      await eventually(async () => {
        await shop.reconcile();
        expect(await balanceOf(buyer), step).toBe(590);
      });
      expect(paid(buyer), step).toBe(1);
    }
  });
});
