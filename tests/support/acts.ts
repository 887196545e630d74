import { BackendCaller } from "@/tests/support/backend-caller";
import { Browser } from "@/tests/support/browser";
import { mailTo } from "@/tests/support/mailbox";
import { authorizePath, redirectUri } from "@/tests/support/oauth-libraries";
import { hiddenField, OfficeBrowser, seenBy } from "@/tests/support/office-browser";
import { connectApps, readQuestion, refresh } from "@/tests/support/owner";
import type { Answer } from "@/tests/support/service";
import type { Buyer, Shop } from "@/tests/support/shop";
import type { StripeStandIn } from "@/tests/support/stripe-stand-in";

/** One who has something of everything. */
export type Owner = Buyer & {
  subscription: string;
  bought: string;
  apps: string[];
  hold: string;
  spend: string;
};

/** Those on whom acts are tried: two owners who have the same, a backend and an operator. */
export type World = {
  shop: Shop;
  one: Owner;
  other: Owner;
  worker: BackendCaller;
  ann: OfficeBrowser;
};

/** Sends a request, each time with the same bytes, or has Stripe tell what has happened there. */
export type Send = () => Promise<Answer | undefined>;

export type Act = {
  /** Reads the page of its form, or has it happen at Stripe. */
  prepare: (world: World) => Send | Promise<Send>;
  /** The acts that come before it. */
  after?: string[];
  /** Which acts are tried at the same time as this one, besides the same one. */
  meets?: string[];
};

export async function makeWorld(shop: Shop): Promise<World> {
  const { service, stripe, stage } = shop;
  const worker = await BackendCaller.add(service, "worker");
  worker.nowMs = stripe.nowMs;
  await service.adminJson("plan", "set", "office-licence", "--price", "price_month", "--credits", "20");
  await service.adminJson("plan", "set", "team-licence", "--price", "price_team", "--credits", "40");
  const owners: Owner[] = [];
  for (const name of ["one", "other"]) {
    const { buyer, subscription } = await shop.admitLicensed("--trial-ends", "2026-01-01", "--credits", "10");
    const { id, browser, email } = buyer;
    const { session: bought } = await shop.buy(buyer, { credits: "price_pack" });
    await shop.deliverAll();
    const apps = await connectApps(browser, service, 2);
    await Browser.signIn(service, email);
    await browser.submit("/home/token", { account: id });
    await browser.submit("/home/credits/limits", { account: id, limit: "400", below: "" });
    const write = async (path: string, body: object) =>
      JSON.parse((await worker.post(`/v1/accounts/${id}/${path}`, body)).text);
    const hold = await write("holds", { credits: "5", reason: "A film", expiresInSeconds: 600 });
    const spent = await write("spends", { credits: "4", reason: "A page" });
    await stage.query(
      `INSERT INTO passkeys (id, account_id, credential_id, rp_id, public_key, counter, name, added_at_ms)
       VALUES ('passkey-of-${name}-1', '${id}', 'credential-of-${name}-1', 'localhost', 'key', 4, 'Key', 1) RETURNING id`,
    );
    await browser.submit("/home/checkout", { account: id, credits: "price_pack" });
    owners.push({ ...buyer, subscription, bought, apps, hold: hold.id, spend: spent.id });
  }
  const [one, other] = owners as [Owner, Owner];
  const ann = await OfficeBrowser.enrol(service, "ann");
  await shop.sendDue();
  return { shop, one, other, worker, ann };
}

/** The paths of what is tried, as the registers have them. */
export const tried = new Set<string>();

/** A form of the owner's pages. */
function own(path: string, fields: Record<string, string> = {}): Act["prepare"] {
  tried.add(path);
  return ({ one }) =>
    () =>
      one.browser.submit(path, { account: one.id, ...fields });
}

/** A write of the backend API, about the owner or what is theirs. */
function backend(
  path: string,
  body: object | ((world: World) => object),
  of: "id" | "hold" | "spend" = "id",
): Act["prepare"] {
  tried.add(path);
  const key = `act ${++keys}`;
  return (world) => {
    const sent = typeof body === "function" ? body(world) : body;
    return () => world.worker.post(path.replace("{id}", world.one[of]), sent, key);
  };
}

let keys = 0;

/** Of these, what happens at Stripe: what it writes depends on when the service has read Stripe by itself. */
export const toldByStripe = new Set<Act["prepare"]>();

/** What happens at Stripe, whose events come as often as they are sent. */
function told(happen: (stripe: StripeStandIn, one: Owner) => void): Act["prepare"] {
  const prepare: Act["prepare"] = ({ shop: { stripe, service }, one }) => {
    happen(stripe, one);
    const events = stripe.takeEvents();
    return async () => {
      for (const event of events) while ((await stripe.deliver(service, event)).status !== 200);
      return undefined;
    };
  };
  toldByStripe.add(prepare);
  return prepare;
}

/** A form of the office about one owner, as the page has it. */
function office(path: string, fields: Record<string, string> = {}): Act["prepare"] {
  tried.add(path);
  return async ({ one, ann }) => {
    const page = await ann.open(`/account?email=${one.email}`);
    const [seen, once] = [seenBy(page, path), hiddenField(page, "once")];
    const shown = { email: one.email, ...(seen && { seen }), ...(once && { once }) };
    return () => ann.submit(path, { ...shown, ...fields });
  };
}

async function endApp(world: World): Promise<Send> {
  const { text } = await world.one.browser.open("/home/access");
  const [, session = ""] = /name="session" value="([^"]{20,})"/.exec(text) ?? [];
  return own("/home/sessions/end", { session })(world);
}

/** The button of the page that shows an app which asks. */
async function approveApp({ one: { browser } }: World): Promise<Send> {
  await browser.open(authorizePath("native", redirectUri));
  const question = await readQuestion(browser);
  return () => browser.submit("/connect/answer", { ...question, answer: "approve" });
}

/** What is written for an owner, by its name. */
export const acts: Record<string, Act> = {
  "ends an app": {
    prepare: endApp,
    meets: ["an app renews", "keeps the apps", "deletes the account"],
  },
  "ends the apps": { prepare: own("/home/sessions/end", { session: "apps" }), meets: ["an app renews"] },
  "keeps the apps": { prepare: own("/home/sessions/keep"), meets: ["an app renews"] },
  "wants no mails about apps": { prepare: own("/home/app-mails", { mails: "off" }) },
  "wants no introduction": { prepare: own("/home/introduction/stop") },
  "is in another time zone": { prepare: own("/home/time-zone", { zone: "Asia/Tokyo" }) },
  "renames a passkey": {
    prepare: own("/home/passkeys/rename", { passkey: "passkey-of-one-1", name: "Yubi" }),
  },
  "removes a passkey": {
    prepare: own("/home/passkeys/remove", { passkey: "passkey-of-one-1" }),
    meets: ["renames a passkey"],
  },
  "wants no passkey": { prepare: own("/home/passkeys/decline") },
  leaves: { prepare: own("/home/account/delete"), meets: ["buys credits", "asks for another email"] },
  "keeps the account by the link": {
    prepare: async ({ shop, one }) => {
      await shop.sendDue();
      const { text = "" } = await mailTo(shop.service.dataDir, one.email, /will be deleted/);
      const [, token = ""] = /\/keep-account\?token=(\S+)/.exec(text) ?? [];
      return () => shop.service.submit("/keep-account/confirm", { token });
    },
    after: ["leaves"],
    meets: ["stays"],
  },
  stays: { prepare: own("/home/account/keep"), after: ["leaves"], meets: ["leaves"] },
  "asks for another email": {
    prepare: own("/home/account/email", { email: "new-one@example.org" }),
    meets: ["is erased", "deletes the account"],
  },
  "asks for a third email": {
    prepare: own("/home/account/email", { email: "third-one@example.org" }),
    meets: ["asks for another email"],
  },
  "stops the change of email": {
    prepare: own("/home/account/email/stop"),
    after: ["asks for another email"],
    meets: ["asks for a third email"],
  },
  "limits credits": {
    prepare: own("/home/credits/limits", { limit: "5", below: "600" }),
    meets: ["spends", "holds", "settles", "buys automatically"],
  },
  "buys automatically": {
    prepare: own("/home/credits/automatic", { credits: "price_pack", below: "100", most: "3" }),
    meets: ["spends"],
  },
  "buys nothing automatically any more": {
    prepare: own("/home/credits/automatic/end"),
    after: ["buys automatically"],
    meets: ["spends", "limits credits", "buys automatically"],
  },
  "makes a token": { prepare: own("/home/token"), meets: ["ends an app", "ends everything"] },
  "buys credits": { prepare: own("/home/checkout", { credits: "price_pack" }), meets: ["is erased"] },
  "approves an app": { prepare: approveApp, meets: ["ends the apps", "ends everything"] },
  "an app renews": {
    prepare:
      ({ shop, one }) =>
      () =>
        refresh(shop.service, String(one.apps[0])),
    meets: ["ends everything", "is erased"],
  },
  "signs out": {
    prepare:
      ({ one }) =>
      () =>
        one.browser.submit("/sign-in/out"),
    meets: ["ends everything"],
  },
  "renews the session": {
    prepare:
      ({ one }) =>
      () =>
        one.browser.post("/sign-in/renew"),
    meets: ["signs out", "ends everything"],
  },
  spends: {
    prepare: backend("/v1/accounts/{id}/spends", { credits: "300", reason: "A film" }),
    meets: [
      "spends more",
      "holds",
      "settles",
      "releases",
      "gives back",
      "is refunded",
      "gets credits",
      "is erased",
    ],
  },
  "spends more": {
    prepare: backend("/v1/accounts/{id}/spends", { credits: "350", reason: "Another" }),
    meets: ["holds", "gives back", "is refunded"],
  },
  holds: {
    prepare: backend("/v1/accounts/{id}/holds", { credits: "390", reason: "A film", expiresInSeconds: 600 }),
    meets: ["settles", "releases", "is refunded", "is erased"],
  },
  settles: {
    prepare: backend("/v1/holds/{id}/settle", { credits: "3" }, "hold"),
    meets: ["releases", "settles more", "is refunded", "is erased"],
  },
  "settles more": {
    prepare: backend("/v1/holds/{id}/settle", { credits: "9" }, "hold"),
    meets: ["releases", "spends"],
  },
  releases: {
    prepare: backend("/v1/holds/{id}/release", {}, "hold"),
  },
  "gives back": {
    prepare: backend("/v1/entries/{id}/reverse", { credits: "3", reason: "It was bad" }, "spend"),
    meets: ["gives back more", "is refunded"],
  },
  "gives back more": {
    prepare: backend("/v1/entries/{id}/reverse", { credits: "2", reason: "It was worse" }, "spend"),
  },
  "spends with others": {
    prepare: backend("/v1/batches", ({ one, other }) => ({
      spends: [one, other].map(({ id }) => ({ account: id, credits: "290", reason: "A page each" })),
    })),
    meets: ["spends", "is refunded"],
  },
  "may run": {
    prepare: backend("/v1/checks", ({ one }) => ({
      token: one.browser.valueOf("__session"),
      spend: { credits: "280", reason: "A run" },
    })),
    meets: ["spends", "ends everything", "signs out", "has no licence any more"],
  },
  "has a reference": {
    prepare: backend("/v1/accounts/{id}/reference", { reference: "customer-1" }),
    meets: ["the other has this reference", "is erased"],
  },
  "the other has this reference": {
    prepare:
      ({ other, worker }) =>
      () =>
        worker.post(
          `/v1/accounts/${other.id}/reference`,
          { reference: "customer-1" },
          "reference of the other",
        ),
  },
  "is refunded": {
    prepare: told((stripe, one) => stripe.refund(one.bought, stripe.chargeOf(one.bought).amount)),
    meets: ["disputes the charge", "is erased"],
  },
  "disputes the charge": { prepare: told((stripe, one) => stripe.dispute(stripe.chargeOf(one.bought))) },
  cancels: {
    prepare: told((stripe, one) => stripe.cancelAtPeriodEnd(one.subscription)),
    meets: ["gets a plan", "is erased"],
  },
  "changes the licence": {
    prepare: told((stripe, one) => stripe.switchPrice(one.subscription, "price_team")),
    meets: ["gets a plan", "spends", "gets a limit"],
  },
  "does not pay": {
    prepare: told((stripe, one) => stripe.renew(one.subscription, { isPaid: false })),
    meets: ["gets a plan"],
  },
  "has no licence any more": {
    prepare: told((stripe, one) => stripe.end(one.subscription)),
    meets: ["gets a plan", "spends", "an app renews"],
  },
  "gets a plan": { prepare: office("/account/terms", { plan: "hobby" }), meets: ["gets a limit"] },
  "gets a limit": { prepare: office("/account/terms", { assistant_limit: "7" }) },
  "gets credits": {
    prepare: office("/account/credits", { amount: "3", reason: "Sorry" }),
    meets: ["holds", "is refunded", "is erased"],
  },
  "ends everything": { prepare: office("/account/sessions/end", { all: "yes" }), meets: ["is erased"] },
  "is moved": {
    prepare: office("/account/move", { to: "moved-one@example.org" }),
    meets: ["asks for another email"],
  },
  "deletes the account": { prepare: office("/account/delete"), meets: ["spends", "buys credits"] },
  "is kept by an operator": {
    prepare: office("/account/keep"),
    after: ["leaves"],
    meets: ["stays", "deletes the account"],
  },
  "is erased": { prepare: office("/account/erase"), meets: ["deletes the account"] },
};
