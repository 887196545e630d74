import { describe, expect, it } from "vitest";
import { pages } from "@/lib/http/register/pages";
import { startService, startStage } from "@/tests/support/block";
import { Browser } from "@/tests/support/browser";
import { engines } from "@/tests/support/engines";
import { codeTo } from "@/tests/support/mailbox";
import { reservePort } from "@/tests/support/port";

describe.each(engines)("codes at which someone guesses, on $name", async (engine) => {
  const stage = await startStage(engine);
  const service = await startService({
    ...stage.environment,
    SIGN_IN: "local",
    METRICS_PORT: String(await reservePort()),
  });
  const metrics = `http://127.0.0.1:${service.environment.METRICS_PORT}/metrics`;
  const readFigure = async () =>
    Number(/^corner_office_wrong_sign_in_codes (\d+)$/m.exec(await (await fetch(metrics)).text())?.[1]);

  it("are a figure and a line of 'check', and longer: no one is judged by six digits any more", async () => {
    const emails = Array.from({ length: 7 }, (_, n) => `owner-${n}@example.com`);
    for (const email of emails) await service.adminJson("account", "add", email);
    expect(await service.check("sign-in")).toMatchObject({ level: "fine", detail: "local" });
    expect(await readFigure()).toBe(0);
    for (const email of emails) {
      const stranger = new Browser(service);
      await stranger.submit("/sign-in/send", { email });
      for (let n = 0; n < 5; n++) await stranger.submit("/sign-in/redeem", { code: "000000" });
    }
    expect(await readFigure()).toBe(30);
    expect(await service.check("sign-in")).toMatchObject({
      level: "warning",
      detail:
        "local; someone is guessing at codes, so those for unknown browsers have eight characters for now",
    });
    await service.adminJson("account", "add", "newcomer@example.com");
    const newcomer = new Browser(service);
    expect(await newcomer.redeem("newcomer@example.com")).toBe(pages.home.path);
    expect(await codeTo(service.dataDir, "newcomer@example.com")).toMatch(/^[0-9A-Z]{4}-[0-9A-Z]{4}$/);
  });
});
