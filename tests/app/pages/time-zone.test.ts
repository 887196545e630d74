import { describe, expect, it } from "vitest";
import { startShop } from "@/tests/support/block";
import { engines } from "@/tests/support/engines";
import { mailsTo } from "@/tests/support/mailbox";
import { connectApps } from "@/tests/support/owner";
import type { Buyer } from "@/tests/support/shop";

const moment = String.raw`\w+,? \d+ \w+ \d{4} at \d\d:\d\d`;

describe.each(engines)("the time zone of an owner, on $name", async (engine) => {
  const shop = await startShop(engine);

  const choose = ({ browser, id }: Buyer, zone: string) =>
    browser.submit("/home/time-zone", { account: id, zone });
  const kept = async ({ email }: Buyer) =>
    (await shop.service.adminJson<{ account: { timeZone: string | null } }>("person", "export", email))
      .account.timeZone;
  const open = async ({ browser }: Buyer, path: string) => (await browser.open(path)).text;
  const timeIn = (html: string) => />(31 January[^<]*)<\/time>/.exec(html)?.[1];

  it("is asked of the page's script until it is known, and then shown, also without one", async () => {
    const owner = await shop.admit("--trial-ends", "2027-01-31T08:00:00Z");
    const before = await open(owner, "/home");
    expect(before).toMatch(new RegExp(`data-account="${owner.id}" [^>]*data-learns-zone="/home/time-zone"`));
    expect(timeIn(before)).toBe("31 January at 08:00 UTC");
    expect(before).toMatch(
      /Up to date at <time [^>]+>\d\d:\d\d UTC<\/time><span data-time-zone=""><\/span>\./,
    );
    expect(await open(owner, "/home/account")).toContain("Times are in UTC until you choose a zone.");
    expect((await choose(owner, "Europe/Berlin")).headers.location).toBe("/home/account#time-zone");
    const after = await open(owner, "/home");
    expect(after).not.toContain("data-learns-zone");
    expect(timeIn(after)).toBe("31 January at 09:00");
    expect(after).toMatch(
      /Up to date at <time [^>]+>\d\d:\d\d<\/time><span data-time-zone=""> \(Europe\/Berlin\)<\/span>\./,
    );
    expect(await open(owner, "/home/account")).toMatch(
      /Times are in Central European (Standard|Summer) Time \(Europe\/Berlin\)\./,
    );
    expect(await kept(owner)).toBe("Europe/Berlin");
  });

  it("is chosen from a list that has the one that is known", async () => {
    const owner = await shop.admit();
    await choose(owner, "america/new_york");
    const list = await open(owner, "/home/account?zone");
    expect(list).toContain('<option selected="">America/New_York</option>');
    expect(list.match(/<option/g)?.length).toBeGreaterThan(300);
    await choose(owner, "UTC");
    expect(await kept(owner)).toBe("UTC");
  });

  it("stays as it was after what is none", async () => {
    const owner = await shop.admit();
    await choose(owner, "Asia/Tokyo");
    for (const zone of ["Etc/Unknown", "+05:30", "", '"><script>', "A".repeat(3000)]) {
      expect((await choose(owner, zone)).headers.location).toBe("/home/account?problem=zone#time-zone");
      expect(await kept(owner)).toBe("Asia/Tokyo");
    }
    expect(await open(owner, "/home/account?problem=zone")).toContain("We do not know this time zone.");
  });

  it("that only another build knows is UTC", async () => {
    const owner = await shop.admit("--trial-ends", "2027-01-31T08:00:00Z");
    await shop.stage.query(`UPDATE accounts SET time_zone = 'Mars/Olympus' WHERE id = '${owner.id}'`);
    expect(timeIn(await open(owner, "/home"))).toBe("31 January at 08:00 UTC");
    await connectApps(owner.browser, shop.service, 1);
    await shop.sendDue();
    const mails = await mailsTo(shop.service.dataDir, owner.email);
    const mail = mails.find(({ subject }) => subject === "An app was connected to your account");
    expect(mail?.text).toMatch(new RegExp(`^Approved: ${moment} UTC$`, "m"));
  });

  it.each([
    ["UTC", undefined],
    ["India Standard Time", "Asia/Kolkata"],
  ])("names the times of mails: %s", async (name, zone) => {
    const { subscription, buyer } = await shop.admitLicensed("--trial-ends", "2026-01-01");
    if (zone) await choose(buyer, zone);
    await connectApps(buyer.browser, shop.service, 1);
    await buyer.browser.submit("/home/account/email", { account: buyer.id, email: `new-${buyer.email}` });
    shop.stripe.cancelAtPeriodEnd(subscription);
    await shop.deliverAll();
    await buyer.browser.submit("/home/account/delete", { account: buyer.id });
    await shop.sendDue();
    const textsTo = async (to: string) =>
      (await mailsTo(shop.service.dataDir, to)).map(({ subject, text }) => `${subject}\n${text}`).join("\n");
    const told = await textsTo(buyer.email);
    for (const words of [
      `Approved: ${moment} ${name}\n`,
      `Confirm before: ${moment} ${name}\n`,
      `Deleted on: ${moment} ${name}\n`,
    ])
      expect(told).toMatch(new RegExp(words));
    expect(await textsTo(`new-${buyer.email}`)).toMatch(new RegExp(`Confirm before: ${moment} ${name}\n`));
  });

  it("is gone with the account", async () => {
    const owner = await shop.admit();
    await choose(owner, "Pacific/Auckland");
    await shop.service.adminJson("person", "erase", owner.email);
    expect(await shop.stage.query("SELECT id FROM accounts WHERE time_zone = 'Pacific/Auckland'")).toEqual(
      [],
    );
  });
});
