import { describe, expect, it } from "vitest";
import { dayMs } from "@/lib/config/durations";
import { startShop } from "@/tests/support/block";
import { engines } from "@/tests/support/engines";
import { OfficeBrowser } from "@/tests/support/office-browser";
import { reservePort } from "@/tests/support/port";

const instant = String.raw`\d{4}-\d\d-\d\dT[\d:.]+Z \([^)]+\)`;

describe.each(engines)("the customers that finance and support ask about, on $name", async (engine) => {
  const shop = await startShop(engine, { OFFICE_PORT: String(await reservePort()) });
  const { stripe, service } = shop;

  const paying = await shop.admitLicensed("--trial-ends", "2026-01-01");
  const late = await shop.admitLicensed("--trial-ends", "2026-01-01");
  const unpaid = await shop.admitLicensed("--trial-ends", "2026-01-01");
  shop.pass(30 * dayMs);
  for (const { subscription } of [paying, late]) stripe.renew(subscription);
  stripe.renew(unpaid.subscription, { isPaid: false });
  await shop.deliverAll();
  shop.pass(30 * dayMs);
  stripe.renew(paying.subscription);
  stripe.renew(late.subscription, { isPaid: false });
  await shop.deliverAll();
  await shop.reconcile();
  const ann = await OfficeBrowser.enrol(service, "ann");

  describe("explain and the account's page", () => {
    it.each([
      [
        late.buyer.email,
        `past due since ${instant}\\. €49\\.00 is due \\(in_\\w+\\)\\. The licence ends ${instant}\\.`,
      ],
      [
        unpaid.buyer.email,
        `unpaid since ${instant}\\. €49\\.00 is due \\(in_\\w+\\)\\. The licence ended ${instant}\\.`,
      ],
    ])("of %s say first what is not paid", async (email, words) => {
      const { stdout } = await service.admin("explain", email);
      expect(stdout).toMatch(new RegExp(`^Payment: The licence is ${words}\nSign-in: `));
      const { text } = await ann.open(`/account?email=${email}`);
      expect(text).toMatch(new RegExp(`<section class="card"><p><b>The licence is ${words}</b></p>`));
    });

    it("of someone who has paid say nothing of it", async () => {
      const { email } = paying.buyer;
      expect((await service.admin("explain", email)).stdout).toMatch(/^Sign-in: /);
      expect(await service.adminJson("explain", email)).toMatchObject({ payment: null });
      expect((await ann.open(`/account?email=${email}`)).text).not.toContain("The licence is");
    });
  });
});
