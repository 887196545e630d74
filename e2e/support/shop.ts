import { expect } from "@playwright/test";
import { reservePort } from "@/tests/support/port";
import { Service } from "@/tests/support/service";
import { StripeStandIn } from "@/tests/support/stripe-stand-in";

/** A service of its own that sells at a fake Stripe, which leads a browser back to it. Its prices have their plans. */
export async function startShop() {
  const stripe = await StripeStandIn.start();
  const PORT = String(await reservePort());
  const address = { PORT, APP_URL: `http://localhost:${PORT}` };
  const service = await Service.start({ ...stripe.environment, ...address, SIGN_IN: "local" });
  await expect.poll(() => service.adminJson("plan", "list").then(JSON.stringify)).toContain("team-licence");
  return {
    stripe,
    service,
    async stop(): Promise<void> {
      await service.stop();
      await stripe.stop();
    },
  };
}
