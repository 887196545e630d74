import { describe, expect, it } from "vitest";
import { dayMs } from "@/lib/config/durations";
import { BackendCaller, withBackendApi } from "@/tests/support/backend-caller";
import { startService, startStage } from "@/tests/support/block";
import { Browser } from "@/tests/support/browser";
import { makeClock } from "@/tests/support/clock";
import { eventually } from "@/tests/support/databases";
import { engines } from "@/tests/support/engines";
import { mailsTo, sendDue } from "@/tests/support/mailbox";

type Owner = { id: string; email: string; browser: Browser };

describe.each(engines)("an owner's limits of credits, on $name", async (engine) => {
  const stage = await startStage(engine);
  const clock = makeClock();
  let aheadMs = 0;
  const nowMs = () => Date.now() + aheadMs;
  const pass = (ms: number) => {
    aheadMs += ms;
    clock.pass(ms);
  };
  const environment = { ...stage.environment, ...clock.environment };
  const service = await startService(await withBackendApi(environment));
  const second = await startService(await withBackendApi({ ...environment, DATA_DIR: service.dataDir }));
  const worker = await BackendCaller.add(service, "worker");
  worker.nowMs = nowMs;
  const elsewhere = new BackendCaller(second, "worker", worker.privateKey);
  elsewhere.nowMs = nowMs;

  let people = 0;
  const admit = async (credits: number): Promise<Owner> => {
    const email = `ceo${people++}@example.com`;
    const terms = ["--plan", "licensed", "--credits", String(credits)];
    const { id } = await service.adminJson<{ id: string }>("account", "add", email, ...terms);
    return { id, email, browser: await Browser.signIn(service, email) };
  };
  const set = ({ id, browser }: Owner, fields: { limit?: string; below?: string }, headers = {}) =>
    browser.submit("/home/credits/limits", { account: id, limit: "", below: "", ...fields }, headers);
  const write = async (path: string, body: object, from = worker) => {
    const { status, text } = await from.post(path, body);
    return { status, ...JSON.parse(text) };
  };
  const spend = ({ id }: Owner, credits: string, from = worker) =>
    write(`/v1/accounts/${id}/spends`, { credits, reason: "A page" }, from);
  const hold = ({ id }: Owner, credits: string) =>
    write(`/v1/accounts/${id}/holds`, { credits, reason: "A film", expiresInSeconds: 3600 });
  const page = async ({ browser }: Owner) => {
    await browser.post("/sign-in/renew");
    return (await browser.open("/home/billing")).text;
  };
  const nextMonth = () => {
    const now = new Date(nowMs());
    return Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1);
  };

  it("refuse what a month's limit does not allow, with words, and what is left of it", async () => {
    const [owner, other] = [await admit(100), await admit(100)];
    const saved = await set(owner, { limit: "10" });
    expect([saved.status, saved.headers.location]).toEqual([303, "/home/billing?limits#limits"]);
    expect(await spend(owner, "6.5")).toMatchObject({ status: 200, balance: 93.5 });
    const refused = {
      status: 409,
      balance: 93.5,
      limit: 10,
      left: 3.5,
      resetsAt: new Date(nextMonth()).toISOString(),
      error: {
        code: "monthly_limit_reached",
        message: "The owner's monthly limit does not allow this.",
        hint: "Spend at most `left`, wait until `resetsAt`, or ask the owner to raise the limit on their billing page.",
        docs: `${worker.url}/docs#monthly_limit_reached`,
      },
    };
    expect(await spend(owner, "3.501")).toEqual(refused);
    expect(await hold(owner, "4")).toEqual(refused);
    const batch = { spends: [{ account: owner.id, credits: "9", reason: "A page" }] };
    const { results } = await write("/v1/batches", batch);
    expect(results).toEqual([{ ...refused, status: undefined }].map(({ status: _, ...answer }) => answer));
    expect(await write("/v1/batches", { ...batch, all: true })).toEqual({ ...refused, index: 0 });
    const token = await service.token(owner.email);
    expect(await write("/v1/checks", { token, spend: { credits: "4", reason: "A page" } })).toEqual(refused);
    expect(await write("/v1/checks", { token })).toMatchObject({ ok: true });
    expect(await spend(owner, "3.5")).toMatchObject({ status: 200, balance: 90 });
    expect(await spend(owner, "0.001")).toMatchObject({ status: 409, left: 0 });
    expect(await spend(other, "50")).toMatchObject({ status: 200, balance: 50 });
    expect(await spend(owner, "101")).toMatchObject({ error: { code: "insufficient_credits" } });
    const text = await page(owner);
    expect(text).toContain("This month used 10 of 10 credits.");
    expect(text).toContain("Your limit is reached: work that costs credits is refused until 1 ");
    await set(owner, { limit: "11" });
    expect(await spend(owner, "1")).toMatchObject({ status: 200 });
    await set(owner, {});
    expect(await spend(owner, "50")).toMatchObject({ status: 200 });
    expect((await service.audit(owner.email)).filter(({ what }) => what === "credit limits")).toMatchObject([
      { who: "owner", before: { monthly_thousandths: 11_000 }, after: { monthly_thousandths: null } },
      { who: "owner", before: { monthly_thousandths: 10_000 }, after: { monthly_thousandths: 11_000 } },
      { who: "owner", before: null, after: { monthly_thousandths: 10_000, mail_below_thousandths: null } },
    ]);
  });

  it("count what was spent before they were set, and what is held; what is given back or freed counts no more", async () => {
    const owner = await admit(100);
    const first = await spend(owner, "8");
    await set(owner, { limit: "10" });
    expect(await page(owner)).toContain("This month used 8 of 10 credits.");
    const held = await hold(owner, "2");
    expect(await page(owner)).toContain("This month used 10 of 10 credits, 2 of them held.");
    expect(await spend(owner, "0.1")).toMatchObject({ status: 409, left: 0 });
    // What was promised is paid, also if the owner wants less by now; more than that is not.
    await set(owner, { limit: "1" });
    expect(await write(`/v1/holds/${held.id}/settle`, { credits: "2.5" })).toMatchObject({
      status: 409,
      left: 0,
      error: { code: "monthly_limit_reached" },
    });
    expect(await write(`/v1/holds/${held.id}/settle`, { credits: "1.5" })).toMatchObject({ status: 200 });
    await set(owner, { limit: "10" });
    expect(await page(owner)).toContain("This month used 9.5 of 10 credits.");
    await write(`/v1/entries/${first.id}/reverse`, { credits: "3", reason: "Too long" });
    expect(await page(owner)).toContain("This month used 6.5 of 10 credits.");
    const freed = await hold(owner, "3.5");
    expect(await spend(owner, "1")).toMatchObject({ status: 409 });
    await write(`/v1/holds/${freed.id}/release`, {});
    expect(await spend(owner, "3.5")).toMatchObject({ status: 200 });
    await service.adminJson("credits", "add", owner.email, "-20");
    expect(await page(owner), "no backend's").toContain("This month used 10 of 10 credits.");
  });

  it("allow exactly the limit to many at once, on two instances", async () => {
    const owner = await admit(1000);
    await set(owner, { limit: "20" });
    const sent = Array.from({ length: 60 }, (_, n) => spend(owner, "1", n % 2 === 0 ? worker : elsewhere));
    const all = await Promise.all(sent);
    expect(all.filter(({ status }) => status === 200)).toHaveLength(20);
    expect(all.filter(({ status }) => status === 409)).toHaveLength(40);
    expect(await page(owner)).toContain("This month used 20 of 20 credits.");
  });

  it("send a mail once each time the credits fall below a threshold, to the owner alone", async () => {
    const [owner, other, frugal] = [await admit(10), await admit(10), await admit(10)];
    await set(frugal, { below: "0.5" });
    await set(owner, { below: "5" });
    const mailed = async ({ email }: Owner) => {
      await sendDue(service, stage, nowMs());
      const mails = await mailsTo(service.dataDir, email);
      return mails.flatMap(({ subject = "", text = "" }) =>
        subject.includes("fewer than") ? [{ subject, text }] : [],
      );
    };
    await spend(owner, "5");
    expect(await mailed(owner), "5 are not below 5").toEqual([]);
    await Promise.all(Array.from({ length: 8 }, (_, n) => spend(owner, "0.25", n % 2 ? worker : elsewhere)));
    const [mail, ...more] = await eventually(async () => {
      const mails = await mailed(owner);
      expect(mails.length).toBeGreaterThan(0);
      return mails;
    });
    expect(more).toEqual([]);
    expect(mail?.subject).toBe("You have fewer than 5 credits");
    expect(mail?.text).toContain("Left: 4.7 credits\n");
    expect(mail?.text).toContain("you asked for it under “Billing”");
    await spend(owner, "1");
    // A hold that ends is no new beginning for an hour; credits that are given are one at once.
    await service.adminJson("credits", "add", owner.email, "3");
    const held = await hold(owner, "3");
    await write(`/v1/holds/${held.id}/release`, {});
    const again = await hold(owner, "2");
    await eventually(async () => expect(await mailed(owner)).toHaveLength(2));
    await write(`/v1/holds/${again.id}/release`, {});
    pass(61 * 60_000);
    await spend(owner, "0.001");
    await hold(owner, "2");
    await eventually(async () => expect(await mailed(owner)).toHaveLength(3));
    await service.adminJson("credits", "add", owner.email, "50");
    await service.adminJson("credits", "add", owner.email, "-52");
    await eventually(async () => expect(await mailed(owner)).toHaveLength(4));
    await service.adminJson("credits", "add", owner.email, "50");
    await set(owner, { below: "" });
    await spend(owner, "50");
    expect(await mailed(owner), "switched off").toHaveLength(4);
    await spend(other, "10");
    for (const bystander of [other, frugal]) expect(await mailed(bystander)).toEqual([]);
  });

  it("are amounts of credits, and anything else changes nothing and is said", async () => {
    const owner = await admit(10);
    await set(owner, { limit: "7" });
    for (const limit of [
      "-1",
      "1.000",
      "1,000",
      "12.345",
      "1,000.5",
      "1e3",
      "a",
      "1000000000000.01",
      "NaN",
    ]) {
      const { status, text } = await set(owner, { limit });
      expect([limit, status, JSON.parse(text).error.code]).toEqual([limit, 400, "limit_failed"]);
    }
    const accept = { accept: "text/html" };
    const { status, headers } = await set(owner, { limit: "3", below: "x" }, accept);
    expect([status, headers.location]).toEqual([303, "/home/billing?problem=limit_failed"]);
    const { text } = await owner.browser.open("/home/billing?problem=limit_failed");
    expect(text).toContain("The spending limit could not be changed. Type a number of credits");
    expect(text).toMatch(/name="limit"[^>]*value="7"/);
    expect((await set(owner, { limit: " １２.５ " })).status).toBe(303);
    expect(await page(owner)).toMatch(/name="limit"[^>]*value="12.5"/);
    expect((await set(owner, { limit: "3,25" })).status, "all that an iPhone in Germany offers").toBe(303);
    expect(await page(owner)).toMatch(/name="limit"[^>]*value="3.25"/);
    await set(owner, { limit: "0" });
    expect(await spend(owner, "0.001")).toMatchObject({ status: 409, limit: 0, left: 0 });
    const token = await service.token(owner.email);
    const { status: asProgram } = await service.submit(
      ...(["/home/credits/limits", { account: owner.id, limit: "" }] as const),
      { headers: { authorization: `Bearer ${token}` } },
    );
    expect(asProgram).toBe(403);
  });

  it("are in the export, and gone after an erasure", async () => {
    const owner = await admit(10);
    await set(owner, { limit: "7", below: "20" });
    await spend(owner, "2");
    const exported = await service.adminJson("person", "export", owner.email);
    expect(exported.creditLimits).toEqual({
      monthly: 7,
      spentThisMonth: 2,
      mailBelow: 20,
      lowSince: expect.any(String),
      automaticPurchase: { price: null, below: null, most: null, dueAt: null, stopped: null },
    });
    await service.adminJson("person", "erase", owner.email);
    expect(await stage.query(`SELECT * FROM credit_limits WHERE account_id = '${owner.id}'`)).toEqual([]);
  });

  it("begin anew with each month of UTC, in which nothing of the last one is given back", async () => {
    const [owner, late] = [await admit(100), await admit(100)];
    await set(owner, { limit: "10" });
    const spent = await spend(owner, "9");
    await spend(late, "9");
    pass(nextMonth() - nowMs() + 1000);
    await late.browser.post("/sign-in/renew");
    await set(late, { limit: "10" });
    for (const each of [owner, late]) expect(await page(each)).toContain("This month used 0 of 10 credits.");
    await write(`/v1/entries/${spent.id}/reverse`, { credits: "5", reason: "Too long" });
    expect(await page(owner)).toContain("This month used 0 of 10 credits.");
    expect(await spend(owner, "9")).toMatchObject({ status: 200 });
    expect(await spend(owner, "2")).toMatchObject({ status: 409 });
    pass(20 * dayMs);
    expect(await page(owner)).toContain("This month used 9 of 10 credits.");
    pass(20 * dayMs);
    expect(await page(owner)).toContain("This month used 0 of 10 credits.");
    expect(await spend(owner, "10")).toMatchObject({ status: 200 });
  });
});
