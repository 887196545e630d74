import { afterAll, describe, expect, it } from "vitest";
import { startService, startStage } from "@/tests/support/block";
import { makeClock } from "@/tests/support/clock";
import { eventually } from "@/tests/support/databases";
import { engines } from "@/tests/support/engines";
import { EventReceiver } from "@/tests/support/event-receiver";
import { mailsTo } from "@/tests/support/mailbox";
import { startResendStandIn } from "@/tests/support/resend-stand-in";
import type { Service } from "@/tests/support/service";
import { openShop } from "@/tests/support/shop";

const secret = "a-secret-of-32-characters-or-so!";

/** Without our own server and its loops: what they alone would do never happens here. */
const plain = { program: ["node_modules/next/dist/bin/next", "start", "-H", "127.0.0.1"] };
const settings = { CRON_SECRET: secret, SIGN_IN: "local" };
const callWith = (service: Service) => () =>
  service.ask("/hooks/cron", { headers: { Authorization: `Bearer ${secret}` } });
const untilUp = (service: Service) =>
  eventually(async () => expect((await service.ask("/api/health")).status).toBe(200));

describe.each(engines)("plain `next start` with a scheduler on $name", async (engine) => {
  const receiver = await EventReceiver.start();
  const shop = await openShop(engine, settings, plain);
  const { service, stripe, stage } = shop;
  afterAll(async () => {
    await shop.close();
    await receiver.stop();
  });
  await untilUp(service);
  const call = callWith(service);

  it("sends mails, tells webhooks and finds purchases that Stripe could not report, by its calls alone", async () => {
    await service.adminJson("webhook", "add", receiver.url);
    const buyer = await shop.admit("--plan", "hobby");
    await shop.buy(buyer);
    stripe.takeEvents(); // that are never delivered
    await service.adminJson("account", "add", "guest@example.com");
    const mailed = () => mailsTo(service.dataDir, "guest@example.com");
    expect(await mailed()).toEqual([]);
    expect(await shop.termsOf(buyer)).toMatchObject({ plan: "hobby" });

    expect((await service.ask("/hooks/cron")).status).toBe(401);
    expect(await mailed()).toEqual([]);
    const answers = await Promise.all([call(), call()]);
    expect(answers.map(({ status, text }) => [status, text])).toEqual([
      [204, ""],
      [204, ""],
    ]);
    expect(await mailed(), "once, although two called").toHaveLength(1);
    expect(await shop.termsOf(buyer)).toMatchObject({ plan: "licensed" });
    expect((await call()).status).toBe(204);
    const told = receiver.received.filter(({ account }) => account === buyer.id);
    expect(told.map(({ type }) => type)).toContain("entitlement.changed");
    expect(told.map(({ number }) => number)).toEqual([...new Set(told.map(({ number }) => number))]);
    const free = await stage.query("SELECT lease_by FROM webhooks");
    expect(free, "another process may deliver next").toEqual([{ lease_by: null }]);
  });
});

describe.each(engines)("plain `next start` with a scheduler and a mail provider on $name", async (engine) => {
  const resend = await startResendStandIn();
  const stage = await startStage(engine);
  const clock = makeClock();
  const environment = { ...stage.environment, ...settings, ...resend.environment, ...clock.environment };
  const service = await startService(
    { APP_URL: "http://localhost:3000", ...environment },
    { ...plain, expectErrors: true },
  );
  afterAll(resend.stop);
  await untilUp(service);
  const call = callWith(service);
  const mailsTo = (email: string) => resend.accepted.filter(({ body }) => [body.to].flat().includes(email));

  it("takes seconds while a mail server says nothing, and the mail leaves with a later call", async () => {
    resend.fault = "silent";
    await service.adminJson("account", "add", "late@example.com");
    const begunAtMs = performance.now();
    expect((await call()).status).toBe(204);
    expect(performance.now() - begunAtMs).toBeLessThan(30_000);
    resend.fault = "none";
    clock.pass(60 * 60_000);
    expect((await call()).status).toBe(204);
    expect(mailsTo("late@example.com")).toHaveLength(1);
  });

  it("says that work is left while the store is away, and does it later", async () => {
    await service.adminJson("account", "add", "later@example.com");
    stage.freeze();
    const answer = await call();
    stage.thaw();
    expect(answer.status).toBe(503);
    expect(answer.headers["retry-after"]).toMatch(/^\d+$/);
    await eventually(async () => {
      expect((await call()).status).toBe(204);
      expect(mailsTo("later@example.com")).toHaveLength(1);
    });
  });
});
