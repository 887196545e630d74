import { describe, expect, it } from "vitest";
import { dayMs } from "@/lib/config/durations";
import { startShop } from "@/tests/support/block";
import { eventually } from "@/tests/support/databases";
import { engines } from "@/tests/support/engines";
import { mailsTo } from "@/tests/support/mailbox";
import { Service } from "@/tests/support/service";
import type { Buyer } from "@/tests/support/shop";
import { startSmtpInbox } from "@/tests/support/smtp-inbox";

describe.each(engines)("an owner who deletes their account, on $name", async (engine) => {
  const shop = await startShop(engine);

  const page = async (buyer: Buyer) => (await buyer.browser.open("/home/account")).text;
  const leave = (buyer: Buyer) => buyer.browser.submit("/home/account/delete", { account: buyer.id });
  const exported = async ({ email }: Buyer) =>
    (await shop.service.adminJson<{ account: { deletesAt: string | null } }>("person", "export", email))
      .account;
  const auditOf = async ({ email }: Buyer) =>
    (await shop.service.audit(email)).map(({ who, what }) => `${who}: ${what}`);

  /** The links of the mails about it, oldest first, as paths. */
  async function links({ email }: Buyer): Promise<string[]> {
    await shop.sendDue();
    const mails = await mailsTo(shop.service.dataDir, email);
    return mails
      .filter(({ subject }) => subject === "Your account will be deleted")
      .map(({ text = "" }) => /http:\/\/[^/]+(\/keep-account\S+)/.exec(text)?.[1] ?? "");
  }
  const keep = (link: string) =>
    shop.service.submit("/keep-account/confirm", {
      token: new URLSearchParams(link.split("?")[1]).get("token") ?? "",
    });

  it("confirms first who they are, and reads what goes and what stays", async () => {
    const buyer = await shop.admit();
    const text = await page(buyer);
    for (const words of ["What goes:", "What stays:", "Delete in 24 hours"]) expect(text).toContain(words);
    await shop.stage.query(`UPDATE local_sessions SET confirmed_at_ms = 0 WHERE account_id = '${buyer.id}'`);
    const { status, headers } = await leave(buyer);
    expect([status, headers.location]).toEqual([303, "/home/account?problem=confirm#ways"]);
    expect((await exported(buyer)).deletesAt).toBeNull();
    const asked = await page(buyer);
    expect(asked).toContain("To delete your account, confirm that it is you:");
    expect(asked).not.toContain("Delete in 24 hours");
  });

  it("comes back to the deletion once the code is typed, and to no address but our own", async () => {
    const buyer = await shop.admit();
    const { browser, email, id } = buyer;
    await shop.stage.query(`UPDATE local_sessions SET confirmed_at_ms = 0 WHERE account_id = '${id}'`);
    const shown = /name="back" value="([^"]+#leave)"/.exec(await page(buyer))?.[1] ?? "";
    for (const [back, planted, to] of [
      [shown, "", "/home/account#leave"],
      ["//evil.example", "", "/home/access#ways"],
      ["", "https://evil.example", "/home/access#ways"],
    ] as const) {
      if (planted) browser.cookies.set("office-back", planted);
      expect(await browser.redeem(email, { back })).toBe(to);
      expect(browser.valueOf("office-back")).toBe("");
    }
    expect(await page(buyer)).toContain("Delete in 24 hours");
  });

  it("has a day, which a second press does not move, and in which nothing else changes", async () => {
    const buyer = await shop.admit("--plan", "licensed");
    const { status, headers } = await leave(buyer);
    expect([status, headers.location]).toEqual([303, "/home/account#leave"]);
    const { deletesAt } = await exported(buyer);
    expect(Math.abs(Date.parse(deletesAt ?? "") - shop.stripe.nowMs() - dayMs)).toBeLessThan(60_000);
    shop.pass(60_000);
    await buyer.browser.post("/sign-in/renew");
    await leave(buyer);
    expect((await exported(buyer)).deletesAt).toBe(deletesAt);
    expect(await links(buyer)).toHaveLength(1);
    for (const path of ["/home", "/home/billing"])
      expect((await buyer.browser.open(path)).text).toContain("Keep my account");
    for (const path of ["/home", "/home/billing", "/home/access"])
      expect((await buyer.browser.open(path)).text).toContain("Your account will be deleted on");
    expect(await shop.service.statusFor(await shop.service.token(buyer.email))).toBe(200);
    expect((await shop.service.adminJson<{ facts: object }>("explain", buyer.email)).facts).toMatchObject({
      deletes: expect.stringContaining(deletesAt ?? ""),
    });
  });

  it("takes it back on the page", async () => {
    const buyer = await shop.admit();
    await leave(buyer);
    expect(await page(buyer)).toContain("Keep my account");
    const { headers } = await buyer.browser.submit("/home/account/keep", { account: buyer.id });
    expect(headers.location).toBe("/home/account?kept#leave");
    shop.pass(2 * dayMs);
    await shop.sendDue();
    expect((await exported(buyer)).deletesAt).toBeNull();
    expect((await auditOf(buyer)).slice(0, 2)).toEqual(["owner: account stay", "owner: account leave"]);
  });

  it("takes it back by the button of the mail's page, without being signed in; the link alone changes nothing", async () => {
    const buyer = await shop.admit();
    await leave(buyer);
    const [link = ""] = await links(buyer);
    for (const method of ["GET", "HEAD"]) await shop.service.ask(link, { method });
    expect((await shop.service.ask(link)).text).toContain(buyer.email);
    expect((await exported(buyer)).deletesAt).not.toBeNull();
    const { status, headers } = await keep(link);
    expect([status, headers.location]).toEqual([303, link]);
    expect((await shop.service.ask(link)).text).toContain("<h1>Your account stays</h1>");
    expect((await exported(buyer)).deletesAt).toBeNull();
    expect((await auditOf(buyer))[0]).toBe("mail link: account stay");

    await leave(buyer);
    await keep(link);
    expect((await exported(buyer)).deletesAt, "by the link of an earlier mail").not.toBeNull();
    expect((await shop.service.ask(link)).status).toBe(400);
  });

  it("is kept by no link that was changed, or made for another account", async () => {
    const [buyer, other] = [await shop.admit(), await shop.admit()];
    for (const each of [buyer, other]) await leave(each);
    const [link = ""] = await links(buyer);
    for (const forged of [
      `${link.slice(0, -1)}${link.endsWith("A") ? "B" : "A"}`,
      link.replace(buyer.id, other.id),
      "/keep-account",
    ]) {
      await keep(forged);
      const { status, text } = await shop.service.ask(forged);
      expect([status, text]).toEqual([400, expect.stringContaining("This link does not work")]);
    }
    for (const each of [buyer, other]) expect((await exported(each)).deletesAt).not.toBeNull();
  });

  it("is erased after the day, with the customer and the licence at Stripe", async () => {
    const { buyer, subscription } = await shop.admitLicensed("--trial-ends", "2026-01-01");
    expect(await page(buyer)).toContain("We refund nothing.");
    const open = await shop.begin(buyer, { credits: "price_pack" });
    const asked = shop.stripe.requests.length;
    await leave(buyer);
    expect(shop.stripe.sessions.get(open)?.status, "what could still be paid").toBe("expired");
    const expiries = shop.stripe.requests.slice(asked).filter((request) => request.endsWith("/expire"));
    expect(expiries, "what is paid is left alone").toHaveLength(1);
    const [link = ""] = await links(buyer);
    shop.pass(dayMs);
    shop.stripe.faultOf = () => "500";
    await shop.sendDue();
    expect((await exported(buyer)).deletesAt, "while Stripe is away").not.toBeNull();
    await buyer.browser.post("/sign-in/renew");
    expect(await page(buyer)).toContain("Your account is being deleted");
    await buyer.browser.submit("/home/account/keep", { account: buyer.id });
    await keep(link);
    shop.stripe.faultOf = () => "none";
    await shop.sendDue();
    await expect(exported(buyer)).resolves.toBeNull();
    expect(shop.stripe.subscriptions.get(subscription)?.status).toBe("canceled");
    expect((await shop.service.ask(link)).text).toContain("The account is deleted");
    const { headers } = await buyer.browser.open("/home");
    expect(headers.location).toBe("/sign-in?problem=ended");
    const told = (await buyer.browser.open("/sign-in?problem=ended")).text;
    expect(told).toContain("The account that you used in this browser was deleted.");
    expect(told).not.toContain("Your session has ended");
    const left = `SELECT email FROM accounts WHERE deletes_at_ms IS NOT NULL OR email = '${buyer.email}'`;
    expect(await shop.stage.query(left)).toEqual([]);
  });

  it("gets a last mail, after which nothing has the address", async () => {
    const inbox = await startSmtpInbox();
    const stage = await engine.prepare();
    const service = await Service.start({
      ...stage.environment,
      SMTP_URL: `smtp://127.0.0.1:${inbox.port}`,
      EMAIL_FROM: "office@example.com",
      APP_URL: "http://localhost:3000",
    });
    await service.adminJson("account", "add", "leaver@example.com");
    await stage.query("UPDATE accounts SET deletes_at_ms = 1");
    await eventually(async () => {
      await service.adminJson("emails", "send-due");
      const mails = inbox.received.map(({ to, raw }) => [to, /^Subject: (.*)\r$/m.exec(raw.toString())?.[1]]);
      expect(mails).toContainEqual(["leaver@example.com", "Your account is deleted"]);
    });
    await service.stop();
    expect(await stage.query("SELECT * FROM sign_in_mails")).toEqual([]);
    const attempts = "SELECT * FROM sign_in_mail_attempts WHERE email = 'leaver@example.com'";
    expect(await stage.query(attempts)).toEqual([]);
    await inbox.stop();
    await stage.clear();
  });
});
