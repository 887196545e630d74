import { describe, expect, it } from "vitest";
import { dayMs } from "@/lib/config/durations";
import { startShop } from "@/tests/support/block";
import { Browser } from "@/tests/support/browser";
import { eventually } from "@/tests/support/databases";
import { engines } from "@/tests/support/engines";
import { codesTo, mailsTo, newCodeTo } from "@/tests/support/mailbox";
import type { Buyer } from "@/tests/support/shop";

describe.each(engines)("an owner who changes their email, on $name", async (engine) => {
  const shop = await startShop(engine);
  const { service, stage, stripe } = shop;
  let addresses = 0;
  const newEmail = () => `new-${++addresses}@example.org`;

  const ask = (buyer: Buyer, email: string) =>
    buyer.browser.submit("/home/account/email", { account: buyer.id, email });
  const page = async (buyer: Buyer) =>
    (await buyer.browser.open("/home/account")).text.replaceAll("<!-- -->", "");
  const emailOf = async ({ id }: Buyer) =>
    String((await stage.query(`SELECT email FROM accounts WHERE id = '${id}'`))[0]?.email);
  /** As if they had used a passkey, which says nothing of their mailbox. */
  const proveByPasskey = ({ id }: Buyer) =>
    stage.query(`UPDATE local_sessions SET confirmed_by = 'passkey' WHERE account_id = '${id}'`);

  async function mailedTo(email: string, ...subjects: string[]) {
    await shop.sendDue();
    return (await mailsTo(service.dataDir, email)).filter(({ subject = "" }) => subjects.includes(subject));
  }
  const linkIn = (text = "") => /http:\/\/[^/]+(\/change-email\S+)/.exec(text)?.[1] ?? "";
  /** The newest link that was mailed to an email, as a path. */
  const linkTo = async (email: string) => {
    const toOld = ["Confirm the change of your email", "The email of your account will change"];
    const mails = await mailedTo(email, ...toOld, "Confirm your new email");
    return linkIn(mails.at(-1)?.text);
  };
  const tokenOf = (link: string) => new URLSearchParams(link.split("?")[1]).get("token") ?? "";
  const press = (link: string, answer = "confirm", browser = new Browser(service)) =>
    browser.submit("/change-email/answer", { token: tokenOf(link), answer });
  const titleOf = async (link: string) => /<h1>([^<]*)/.exec((await service.ask(link)).text)?.[1];

  it("needs a proof of the last five minutes, and then the word of both mailboxes", async () => {
    const buyer = await shop.admit();
    const to = newEmail();
    await stage.query(`UPDATE local_sessions SET confirmed_at_ms = 0 WHERE account_id = '${buyer.id}'`);
    expect((await ask(buyer, to)).headers.location).toBe("/home/account?problem=confirm#ways");
    expect(await page(buyer)).toContain("To change your email, confirm that it is you:");
    expect(await buyer.browser.redeem(buyer.email, { back: "/home/account?change#address" })).toBe(
      "/home/account?change#address",
    );
    await proveByPasskey(buyer);
    expect((await ask(buyer, to)).headers.location).toBe("/home/account?asked#address");
    const [old, other] = [await linkTo(buyer.email), await linkTo(to)];
    for (const link of [old, other]) expect(await titleOf(link)).toBe("Change the email of the account?");
    expect((await press(other)).headers.location).toBe(other);
    expect(await titleOf(other)).toBe("One mailbox is left");
    expect(await emailOf(buyer), "by the new mailbox alone").toBe(buyer.email);
    await press(old);
    for (const link of [old, other]) expect(await titleOf(link)).toBe("The email was changed");
    expect(await emailOf(buyer)).toBe(to);
    const [told] = await mailedTo(buyer.email, "The email of your account was changed");
    expect(told?.text).toContain(`New email: ${to}\nChanged: `);
  });

  it("has given the old mailbox's word with the code that was mailed to it, which is told there and can be stopped", async () => {
    const buyer = await shop.admit();
    const to = newEmail();
    await ask(buyer, to);
    const old = await linkTo(buyer.email);
    const [told] = await mailedTo(buyer.email, "The email of your account will change");
    expect(told?.text).toContain("You have confirmed it with your sign-in code,");
    const shown = await page(buyer);
    for (const words of [`${buyer.email}: confirmed`, `${to}: waits for its link`])
      expect(shown).toContain(words);
    const other = await linkTo(to);
    await press(old, "stop");
    expect(await titleOf(old)).toBe("This change has ended");
    await press(other);
    expect(await emailOf(buyer)).toBe(buyer.email);
    const trail = (await service.audit(buyer.email)).map(({ who, what }) => `${who}: ${what}`);
    expect(trail.slice(0, 2)).toEqual(["mail link: email change stopped", "owner: email change asked"]);
  });

  it("stays signed in with browsers and apps, while codes of the old email and proofs of before are worth nothing", async () => {
    const buyer = await shop.admit("--plan", "licensed");
    const to = newEmail();
    const token = await service.token(buyer.email);
    const stale = new Browser(service);
    const earlier = await codesTo(service.dataDir, buyer.email);
    await stale.submit("/sign-in/send", { email: buyer.email });
    const code = await newCodeTo(service.dataDir, buyer.email, earlier);
    await ask(buyer, to);
    await press(await linkTo(to), "confirm", buyer.browser);
    expect(await emailOf(buyer)).toBe(to);
    expect(await buyer.browser.status()).toBe(200);
    expect(await service.statusFor(token)).toBe(200);
    const { headers } = await stale.submit("/sign-in/redeem", { code });
    expect(headers.location).toBe("/sign-in?problem=used");
    expect((await ask(buyer, newEmail())).headers.location, "by the code to the old email").toBe(
      "/home/account?problem=confirm#ways",
    );
    expect(await Browser.signIn(service, to)).toBeDefined();
    expect(
      (await stage.query(`SELECT type FROM events WHERE account_id = '${buyer.id}'`)).map(({ type }) => type),
    ).toContain("email.changed");
  });

  it("is told nothing of whether another has the new email: only that mailbox is", async () => {
    const [buyer, holder] = [await shop.admit(), await shop.admit()];
    const free = newEmail();
    const answers = [await ask(buyer, holder.email), await ask(buyer, free)];
    const [taken, open] = answers.map(({ status, headers }) => [status, headers.location]);
    expect(taken).toEqual(open);
    const again = await shop.admit();
    await ask(again, holder.email.toUpperCase());
    expect(await page(again)).toContain(`${holder.email}: waits for its link`);
    expect(await linkTo(holder.email), "no link").toBe("");
    const mails = await mailedTo(holder.email, "This address has an account already");
    expect(mails.at(-1)?.text).not.toContain(again.email);
  });

  it("cannot move in where an account was opened meanwhile, or another owner was faster", async () => {
    const [one, other, third] = [await shop.admit(), await shop.admit(), await shop.admit()];
    const wanted = newEmail();
    await ask(one, wanted);
    const first = await linkTo(wanted);
    await ask(other, wanted);
    const second = await linkTo(wanted);
    await Promise.all([press(first), press(second)]);
    const emails = [await emailOf(one), await emailOf(other)];
    expect(emails.filter((email) => email === wanted)).toHaveLength(1);
    const opened = newEmail();
    await ask(third, opened);
    const late = await linkTo(opened);
    await service.adminJson("account", "add", opened);
    await press(late);
    expect(await titleOf(late)).toBe("This change has ended");
    expect(await emailOf(third)).toBe(third.email);
  });

  it("has one request at a time: a newer one ends the links of the one before, and a day all of them", async () => {
    const buyer = await shop.admit();
    const [typo, right] = [newEmail(), newEmail()];
    await ask(buyer, typo);
    const former = await linkTo(typo);
    await ask(buyer, right);
    await press(former);
    expect(await emailOf(buyer)).toBe(buyer.email);
    const link = await linkTo(right);
    shop.pass(dayMs);
    await press(link);
    expect(await titleOf(link)).toBe("This change has ended");
    expect(await emailOf(buyer)).toBe(buyer.email);
  });

  it("is not kept from it by another owner's request, nor by both buttons at once", async () => {
    const [buyer, bystander] = [await shop.admit(), await shop.admit()];
    const to = newEmail();
    await proveByPasskey(buyer);
    await ask(buyer, to);
    const links = [await linkTo(buyer.email), await linkTo(to)];
    await ask(bystander, newEmail());
    // Both have read that neither has confirmed it, and wait for their turn to write.
    const commit = await stage.change(`UPDATE accounts SET time_zone = NULL WHERE id = '${buyer.id}'`);
    const pressed = Promise.all(links.map((link) => press(link)));
    for (let turn = 0; turn < 20; turn++) await service.ask("/api/health");
    await commit();
    await pressed;
    expect(await emailOf(buyer)).toBe(to);
  });

  it("changes nothing by opening a link, by one that was altered, or by the other mailbox's", async () => {
    const buyer = await shop.admit();
    const to = newEmail();
    await proveByPasskey(buyer);
    await ask(buyer, to);
    const other = await linkTo(to);
    for (const method of ["GET", "HEAD"]) await service.ask(other, { method });
    await press(other.replace(".to.", ".from."));
    await press(`${other.slice(0, -1)}${other.endsWith("A") ? "B" : "A"}`);
    await press(other, "stop");
    expect(await titleOf(other), "the new mailbox stops nothing, and has said nothing").toBe(
      "Change the email of the account?",
    );
    for (const bad of [other.replace(".to.", ".from."), "/change-email", "/change-email?token=x.to.y"])
      expect((await service.ask(bad)).status).toBe(400);
    expect(await emailOf(buyer)).toBe(buyer.email);
  });

  it("asks three times in a day at most, and no mailbox is asked more often, however it is spelled", async () => {
    const buyer = await shop.admit();
    for (let asked = 0; asked < 3; asked++) await ask(buyer, newEmail());
    const { headers } = await ask(buyer, newEmail());
    expect(headers.location).toBe("/home/account?problem=often#address");
    await stage.query(
      `UPDATE email_changes SET asked_at_ms = asked_at_ms - ${dayMs} WHERE account_id = '${buyer.id}'`,
    );
    expect((await ask(buyer, newEmail())).headers.location, "a day later").toBe(
      "/home/account?asked#address",
    );
    const box = `often${Date.now()}`;
    for (const [tag, isMailed] of [
      ["", true],
      ["+a", true],
      ["+b", true],
      ["+c", false],
    ] as const) {
      const other = await shop.admit();
      expect((await ask(other, `${box}${tag}@example.org`)).headers.location).toBe(
        "/home/account?asked#address",
      );
      expect((await linkTo(`${box}${tag}@example.org`)) !== "", tag).toBe(isMailed);
    }
  });

  it("takes what an email is: in any case, full-width, with a domain of its own letters; not the same one, or none", async () => {
    const buyer = await shop.admit();
    for (const [typed, problem] of [
      [buyer.email.toUpperCase(), "same"],
      ["x", "email"],
      ["anné@example.com", "letters"],
    ] as const)
      expect((await ask(buyer, typed)).headers.location).toBe(`/home/account?problem=${problem}#address`);
    const local = `wide${Date.now()}`;
    await ask(buyer, ` ${local}@Bücher.example `.replace("@", "＠"));
    await press(await linkTo(`${local}@xn--bcher-kva.example`));
    expect(await emailOf(buyer)).toBe(`${local}@xn--bcher-kva.example`);
  });

  it("keeps who wants no mail, is found by the old email in the audit, and is exported and erased with both", async () => {
    const buyer = await shop.admit();
    const to = newEmail();
    const { url } = await service.adminJson<{ url: string }>("emails", "unsubscribe-link", buyer.email);
    await service.ask(url.replace(service.url, ""), { method: "POST" });
    await ask(buyer, to);
    await press(await linkTo(to));
    const exported = await service.adminJson<Record<string, unknown>>("person", "export", to);
    expect(exported).toMatchObject({
      email: to,
      wantsNoMail: true,
      emailChanges: [{ from: buyer.email, to, changedAt: expect.any(String) }],
      changes: expect.arrayContaining([expect.objectContaining({ what: "account add" })]),
    });
    // The mail to the old address may be on its way.
    const told = `SELECT * FROM sign_in_mail_attempts WHERE email = '${buyer.email}' AND kind = 'email changed'`;
    await eventually(async () => expect(await stage.query(told)).toHaveLength(1));
    await service.adminJson("person", "erase", to);
    for (const email of [buyer.email, to])
      for (const [table, column] of [
        ["audit_entries", "whom"],
        ["audit_entries", "before"],
        ["audit_entries", "after"],
        ["sign_in_mail_attempts", "email"],
        ["invitations", "email"],
        ["email_changes", "from_email"],
      ])
        expect(
          await stage.query(`SELECT * FROM ${table} WHERE ${column} LIKE '%${email}%'`),
          `${table}.${column}`,
        ).toEqual([]);
  });

  describe("and cannot read the old one any more", () => {
    /** As if a day had passed. */
    const inADay = async () => {
      await stage.query(
        `UPDATE email_changes SET asked_at_ms = asked_at_ms - ${dayMs}, until_ms = until_ms - ${dayMs}`,
      );
      await stage.query("UPDATE sign_in_mails SET next_attempt_at_ms = 0 WHERE kind = 'email change'");
    };

    it("is moved by an operator: the old mailbox is told at once, the new one is asked a day later", async () => {
      const buyer = await shop.admit();
      const to = newEmail();
      expect(await service.adminJson("--yes", "account", "move", buyer.email, to)).toEqual({ asked: to });
      const [told] = await mailedTo(buyer.email, "The email of your account will change");
      expect(told?.text).toContain("We were asked to change the email of your account, because");
      expect(await linkTo(to), "no link yet").toBe("");
      expect(await titleOf(linkIn(told?.text))).toBe("One mailbox is left");
      expect(await page(buyer)).toContain(
        "We were asked to move this account, because its owner cannot read its email.",
      );
      await inADay();
      const link = await linkTo(to);
      expect(await emailOf(buyer), "without its word").toBe(buyer.email);
      await press(link);
      expect(await emailOf(buyer)).toBe(to);
      const [last] = await mailedTo(buyer.email, "The email of your account was changed");
      expect(last?.text).toContain(
        "We were asked to, no one stopped it for a day, and the new address confirmed it.",
      );
      const trail = (await service.audit(to)).map(({ who, what }) => `${who}: ${what}`);
      expect(trail).toContainEqual(expect.stringMatching(/^operator.*: email change asked$/));
      const { emailChanges } = await service.adminJson<{ emailChanges: object[] }>("person", "export", to);
      expect(emailChanges).toMatchObject([
        { from: buyer.email, to, askedBy: expect.stringMatching(/^operator/) },
      ]);
    });

    it("stays if the old mailbox stops it, and is not moved to an email that has an account", async () => {
      const [buyer, holder] = [await shop.admit(), await shop.admit()];
      const to = newEmail();
      await service.adminJson("--yes", "account", "move", buyer.email, to);
      await press(await linkTo(buyer.email), "stop");
      await inADay();
      expect(await linkTo(to)).toBe("");
      expect(await emailOf(buyer)).toBe(buyer.email);
      const taken = await service.admin("--yes", "account", "move", buyer.email, holder.email);
      expect([taken.code, taken.stderr]).toEqual([
        1,
        `invalid_request: ${holder.email} has an account. Name another email, or delete that account first.\n`,
      ]);
    });
  });

  it("is followed by the customer at Stripe, at once or, where Stripe is away, in the reconciler's next round", async () => {
    const [{ buyer }, { buyer: later }] = [await shop.admitLicensed(), await shop.admitLicensed()];
    const customers = await stage.query("SELECT account_id, customer_id FROM billing_customers");
    const atStripe = ({ id }: Buyer) =>
      stripe.customers.get(String(customers.find(({ account_id }) => account_id === id)?.customer_id))?.email;
    const to = newEmail();
    await ask(buyer, to);
    await press(await linkTo(to));
    expect(atStripe(buyer)).toBe(to);
    const second = newEmail();
    await ask(later, second);
    const link = await linkTo(second);
    stripe.faultOf = () => "500";
    await press(link);
    expect(await titleOf(link)).toBe("The email was changed");
    expect(atStripe(later)).toBe(later.email);
    stripe.faultOf = () => "none";
    await shop.reconcile();
    expect(atStripe(later)).toBe(second);
  });
});
