import { describe, it } from "vitest";
import { dayMs } from "@/lib/config/durations";
import { BackendCaller, withBackendApi } from "@/tests/support/backend-caller";
import { startShop } from "@/tests/support/block";
import { Browser } from "@/tests/support/browser";
import { engines } from "@/tests/support/engines";
import { makeEveryone, type Somebody } from "@/tests/support/everyone";
import { mailTo } from "@/tests/support/mailbox";
import { refresh } from "@/tests/support/owner";

describe.each(engines)("of four owners with the same things, on $name", async (engine) => {
  const shop = await startShop(engine, await withBackendApi());
  const { service, stripe } = shop;
  const everyone = await makeEveryone(shop);
  // Neither the first nor the last, whom a condition that is missing finds by chance.
  const [first, other, one, last] = everyone.all as [Somebody, Somebody, Somebody, Somebody];
  const worker = await BackendCaller.add(service, "worker");

  const submit = ({ browser, id }: Somebody, path: string, fields: Record<string, string> = {}) =>
    browser.submit(path, { account: id, ...fields });
  const deliver = (told: () => unknown) => async () => {
    told();
    await shop.deliverAll();
  };
  const only = everyone.only;

  it("each is mailed that their licence ends, which ends on the same day", async () => {
    for (const { subscription } of everyone.all) stripe.cancelAtPeriodEnd(subscription);
    await shop.deliverAll();
    await everyone.eachIsMailed(/^Your plan ends/, async () => shop.pass(27.5 * dayMs));
    for (const owner of everyone.all) {
      stripe.change(owner.subscription, { cancel_at_period_end: false, cancel_at: null });
      owner.browser = await Browser.signIn(service, owner.email);
    }
    await shop.deliverAll();
  });

  it("only the one who takes it back stays, on the page or by the link of the mail", async () => {
    for (const owner of everyone.all)
      await only([owner], "leaves", () => submit(owner, "/home/account/delete"));
    await only([one], "stays", () => submit(one, "/home/account/keep"));
    const { text = "" } = await mailTo(service.dataDir, other.email, /will be deleted/);
    const [, token = ""] = /\/keep-account\?token=(\S+)/.exec(text) ?? [];
    await only([other], "stays by the link", () => service.submit("/keep-account/confirm", { token }));
    for (const owner of [first, last]) await submit(owner, "/home/account/keep");
  });

  it("only the owner of an app has less or more of it", async () => {
    const [kept = "", spare = ""] = one.apps;
    await only([one], "uses an app", () => refresh(service, kept));
    const renewed = JSON.parse((await refresh(service, spare)).text).refresh_token;
    shop.pass(120_000);
    await refresh(service, renewed);
    shop.pass(120_000);
    await only([one], "is warned of a copy", () =>
      service.submit(
        "/oauth/token",
        { grant_type: "refresh_token", client_id: "native", refresh_token: spare },
        { from: "127.0.9.1" },
      ),
    );
    await one.browser.post("/sign-in/renew");
    const { text } = await one.browser.open("/home/access");
    const [, session = ""] = /name="session" value="([^"]{20,})"/.exec(text) ?? [];
    for (const [what, path, fields] of [
      ["wants no mails about apps", "/home/app-mails", { mails: "off" }],
      ["wants no introduction", "/home/introduction/stop", {}],
      ["is in another time zone", "/home/time-zone", { zone: "Asia/Tokyo" }],
      ["keeps apps", "/home/sessions/keep", {}],
      ["ends a session", "/home/sessions/end", { session }],
    ] as const)
      await only([one], what, () => submit(one, path, fields));
    await other.browser.post("/sign-in/renew");
    await only([other], "ends the apps", () => submit(other, "/home/sessions/end", { session: "apps" }));
    await only([one], "ends all", () => service.adminJson("session", "end", one.email, "--all"));
  });

  it("only the owner of credits has another balance, ledger or limit", async () => {
    await only([one], "signs in", async () => {
      one.browser = await Browser.signIn(service, one.email);
    });
    await only([one], "limits", () => submit(one, "/home/credits/limits", { limit: "5", below: "2" }));
    await only([one], "is given credits", () => service.adminJson("credits", "add", one.email, "3"));
    worker.nowMs = stripe.nowMs;
    const spend = (credits: string) =>
      worker.post(`/v1/accounts/${one.id}/spends`, { credits, reason: "A page" });
    await only([one], "spends", () => spend("1"));
    await only([one], "holds", () =>
      worker.post(`/v1/accounts/${one.id}/holds`, { credits: "1", reason: "A page", expiresInSeconds: 600 }),
    );
    const bought = await shop.begin(one, { credits: "price_pack" });
    await only(
      [one],
      "buys",
      deliver(() => stripe.pay(bought)),
    );
    await only(
      [one],
      "is refunded",
      deliver(() => stripe.refund(bought, 100)),
    );
  });

  it("only the customer of a licence hears of it", async () => {
    for (const [what, told] of [
      ["cancels", () => stripe.cancelAtPeriodEnd(one.subscription)],
      ["goes on", () => stripe.change(one.subscription, { cancel_at_period_end: false, cancel_at: null })],
      ["upgrades", () => stripe.switchPrice(one.subscription, "price_team")],
      ["does not pay", () => stripe.renew(one.subscription, { isPaid: false })],
      ["pays after all", () => stripe.payOpen(one.subscription)],
      ["disputes", () => stripe.dispute(stripe.chargeOf(one.subscription))],
      ["ends", () => stripe.end(one.subscription)],
    ] as const)
      await only([one], what, deliver(told));
  });

  it("only the one whom an operator changes is changed, and only the erased one is gone", async () => {
    await only([one], "is given a plan", () =>
      service.adminJson("account", "set", one.email, "--plan", "hobby"),
    );
    await only([one], "has a token", () => service.token(one.email));
    await only([one], "is erased", () => service.adminJson("person", "erase", one.email));
    await only([other], "is deleted", () => service.adminJson("account", "delete", other.email));
  });
});
