import { describe, expect, it } from "vitest";
import { dayMs } from "@/lib/config/durations";
import { startService, startStage } from "@/tests/support/block";
import { Browser } from "@/tests/support/browser";
import { makeClock } from "@/tests/support/clock";
import { engines } from "@/tests/support/engines";
import { connectApps, refresh } from "@/tests/support/owner";

const behindMs = 400 * dayMs;
const email = "ceo@example.com";

describe.each(engines)("a clock that was 400 days behind and is set right, on $name", async (engine) => {
  const clock = makeClock();
  clock.pass(behindMs); // the right time
  const stage = await startStage(engine);
  const service = await startService({ ...stage.environment, ...clock.environment });
  await service.adminJson("account", "add", email, "--plan", "licensed");

  it("costs no browser and no app its session", async () => {
    const [used, unused] = [await Browser.signIn(service, email), await Browser.signIn(service, email)];
    const [renewed = "", resting = ""] = await connectApps(used, service, 2);
    await service.kill();
    clock.pass(-behindMs);
    await service.run();
    await service.ready();
    const renew = (browser: Browser) => browser.post("/sign-in/renew");
    expect((await renew(used)).status, "while it is behind").toBe(204);
    const { status, text } = await refresh(service, renewed);
    expect(status, text).toBe(200);
    await service.adminJson("emails", "send-due");
    clock.pass(behindMs);
    for (const browser of [used, unused]) {
      expect((await renew(browser)).status).toBe(204);
      expect((await browser.open("/home")).status).toBe(200);
    }
    for (const token of [JSON.parse(text).refresh_token, resting])
      expect((await refresh(service, token)).status).toBe(200);
  });
});
