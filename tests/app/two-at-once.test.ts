import { describe, expect, it, onTestFinished } from "vitest";
import { hourMs } from "@/lib/config/durations";
import { BackendCaller, withBackendApi } from "@/tests/support/backend-caller";
import { startShop } from "@/tests/support/block";
import { eventually } from "@/tests/support/databases";
import { engines } from "@/tests/support/engines";
import { authorizePath, redirectUri } from "@/tests/support/oauth-libraries";
import { readQuestion } from "@/tests/support/owner";
import type { Buyer } from "@/tests/support/shop";
import { listTables } from "@/tests/support/stores";

/* What meets is held at Stripe until all have come, or sent without waiting for one another. */

const copies = 12;

describe.each(engines)("at once, on $name", async (engine) => {
  const shop = await startShop(engine, await withBackendApi());
  const { service, stripe, stage } = shop;
  const worker = await BackendCaller.add(service, "worker");

  /** Holds requests to Stripe until so many have come, and those after them not at all. */
  function holdUntil(many: number, isMeant: (request: string) => boolean): void {
    const { promise: all, resolve: letGo } = Promise.withResolvers<void>();
    let waiting = 0;
    stripe.whenDone = (request) => {
      if (!isMeant(request)) return;
      if (++waiting === many) letGo();
      return waiting <= many ? all : undefined;
    };
    onTestFinished(() => {
      stripe.whenDone = () => {};
    });
  }
  /** Holds the next of such requests to Stripe, after it was carried out, or all, until they are let go. */
  function hold(start: string, which: "next" | "all" = "next") {
    const { promise: hasCome, resolve: come } = Promise.withResolvers<void>();
    const { promise: free, resolve: letGo } = Promise.withResolvers<void>();
    stripe.whenDone = (request) => {
      if (!request.startsWith(start)) return;
      if (which === "next") stripe.whenDone = () => {};
      come();
      return free;
    };
    onTestFinished(() => {
      stripe.whenDone = () => {};
    });
    return { hasCome, letGo };
  }
  /** Until a write of the service waits for another transaction. */
  async function waitsInStore(): Promise<void> {
    const waits =
      "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    if (engine.name === "PostgreSQL")
      await eventually(async () => expect(await stage.query(waits)).toHaveLength(1));
    // Any that was sent before these has read what it writes.
    else for (let turn = 0; turn < 5; turn++) await service.ask("/api/health");
  }
  /** As Stripe does, again until it is taken: its own deadline may pass first. */
  const deliver = async (event: object): Promise<void> => {
    while ((await stripe.deliver(service, event)).status !== 200);
  };
  const ledger = ({ email }: Buyer) =>
    service.adminJson<{ credits: number; reason: string }[]>("credits", "history", email);
  const credits = async (buyer: Buyer) => (await shop.termsOf(buyer)).credits;

  async function buyPack() {
    const buyer = await shop.admit("--plan", "licensed");
    const session = await shop.begin(buyer, { credits: "price_pack" });
    stripe.pay(session);
    return { buyer, session };
  }

  it("twelve deliveries of a refund take the credits back once, and those of the failed refund give them again once", async () => {
    const { buyer, session } = await buyPack();
    await shop.deliverAll();
    const amount = stripe.chargeOf(session).amount;
    for (const [balance, entries, tell] of [
      [250, 2, () => stripe.refund(session, amount / 2)],
      [500, 3, () => stripe.failRefund(stripe.chargeOf(session))],
    ] as const) {
      tell();
      const [event = {}] = stripe.takeEvents();
      holdUntil(copies, (request) => request.startsWith("GET /v1/"));
      await Promise.all(Array.from({ length: copies }, () => deliver(event)));
      stripe.whenDone = () => {};
      expect([await credits(buyer), (await ledger(buyer)).length]).toEqual([balance, entries]);
    }
  });

  it("what Stripe and what an operator gives are both counted", async () => {
    const { buyer } = await buyPack();
    const [event = {}] = stripe.takeEvents();
    const adding = Array.from({ length: 5 }, (_, n) =>
      service.adminJson("credits", "add", buyer.email, "1", "--reason", `the ${n}th`),
    );
    await Promise.all([...adding, ...Array.from({ length: 5 }, () => deliver(event))]);
    expect(await credits(buyer)).toBe(505);
    expect((await ledger(buyer)).map(({ credits }) => credits).sort()).toEqual([1, 1, 1, 1, 1, 500]);
  });

  it("a refund takes what is there, and nothing of what is held for work that goes on", async () => {
    const { buyer, session } = await buyPack();
    await shop.deliverAll();
    worker.nowMs = stripe.nowMs;
    const work = { credits: "400", reason: "A film", expiresInSeconds: 600 };
    const held = JSON.parse((await worker.post(`/v1/accounts/${buyer.id}/holds`, work)).text);
    stripe.refund(session, stripe.chargeOf(session).amount);
    await shop.deliverAll();
    expect((await ledger(buyer)).map(({ credits }) => credits)).toEqual([500, -100]);
    expect((await worker.post(`/v1/holds/${held.id}/settle`, {})).status).toBe(200);
    expect(await credits(buyer)).toBe(0);
  });

  it("a checkout and a deletion leave no checkout that can be paid", async () => {
    const buyer = await shop.admit("--trial-ends", "2026-01-01");
    const { hasCome, letGo } = hold("POST /v1/checkout/sessions");
    const fields = { account: buyer.id, licence: "price_month" };
    const pressed = buyer.browser.submit("/home/checkout", fields);
    await hasCome;
    await buyer.browser.submit("/home/account/delete", { account: buyer.id });
    letGo();
    await pressed;
    await shop.reconcile(buyer.email);
    expect([...stripe.sessions.values()].filter(({ status }) => status === "open")).toEqual([]);
  });

  it("a reading of a licence that was overtaken by its end does not bring it back", async () => {
    const { buyer, subscription } = await shop.admitLicensed("--trial-ends", "2026-01-01");
    const { hasCome, letGo } = hold(`GET /v1/subscriptions/${subscription}`);
    stripe.cancelAtPeriodEnd(subscription);
    const [event = {}] = stripe.takeEvents();
    const delivered = deliver(event);
    await hasCome;
    stripe.end(subscription);
    await shop.deliverAll();
    const ended = await shop.termsOf(buyer);
    expect(ended.plan).not.toBe("licensed");
    letGo();
    await delivered;
    expect(await shop.termsOf(buyer)).toEqual(ended);
  });

  it("an erasure of several owners looks at each again when the one before is gone", async () => {
    const { buyer: first } = await buyPack();
    await shop.deliverAll();
    const second = await shop.admit("--plan", "licensed");
    for (const { id, browser } of [first, second]) {
      await browser.submit("/home/account/delete", { account: id });
      shop.pass(1000);
    }
    const { hasCome, letGo } = hold("DELETE /v1/customers/", "all");
    shop.pass(25 * hourMs);
    const sent = service.admin("emails", "send-due"); // the service does the same
    await hasCome;
    await stage.query(`UPDATE accounts SET deletes_at_ms = NULL WHERE id = '${second.id}'`);
    letGo();
    await sent;
    await service.admin("emails", "send-due");
    expect((await service.admin("account", "show", first.email)).stderr).toContain("not_found");
    expect((await shop.termsOf(second)).plan).toBe("licensed");
  });

  it("a checkout that is given up while Stripe makes it is not the one that is paid", async () => {
    const buyer = await shop.admit("--trial-ends", "2026-01-01");
    stripe.whenDone = async (request) => {
      if (!request.startsWith("POST /v1/checkout/sessions")) return;
      stripe.whenDone = () => {};
      await stage.query(
        "UPDATE billing_checkouts SET state = 'failed' WHERE session_id IS NULL RETURNING id",
      );
    };
    const session = await shop.begin(buyer);
    const rows = `SELECT state, session_id FROM billing_checkouts WHERE account_id = '${buyer.id}'`;
    const [given, paid] = [
      { state: "failed", session_id: null },
      { state: "open", session_id: session },
    ];
    expect((await stage.query(rows)).map((row) => ({ ...row }))).toEqual(
      expect.arrayContaining([given, paid]),
    );
    const ofBuyer = [...stripe.sessions.values()].filter(({ metadata }) => metadata?.account === buyer.id);
    expect(ofBuyer.filter(({ status }) => status === "open")).toHaveLength(1);
  });

  it("tabs that all have read that no checkout is open get one", async () => {
    const buyer = await shop.admit("--trial-ends", "2026-01-01");
    const isLast = (request: string) => request === "GET /v1/checkout/sessions";
    const asked = stripe.requests.filter(isLast).length;
    const commit = await stage.change(`UPDATE accounts SET time_zone = NULL WHERE id = '${buyer.id}'`);
    const tabs = Array.from({ length: 4 }, () => shop.begin(buyer));
    await eventually(() => expect(stripe.requests.filter(isLast).length - asked).toBe(tabs.length));
    // By then all have read, and wait for their turn to write.
    for (let turn = 0; turn < 5; turn++) await service.ask("/api/health");
    await commit();
    expect(new Set(await Promise.all(tabs)).size).toBe(1);
  });

  it("a licence and credits are bought by one customer, which one of the two has made", async () => {
    const buyer = await shop.admit("--plan", "licensed");
    // Both have read that there is none, each time that they do.
    let come = 0;
    let meeting = Promise.withResolvers<void>();
    onTestFinished(() => {
      stripe.whenDone = () => {};
    });
    stripe.whenDone = (request) => {
      if (request !== "GET /v1/customers") return;
      const { promise, resolve } = meeting;
      if (++come % 2 === 0) {
        meeting = Promise.withResolvers();
        resolve();
      }
      return promise;
    };
    const begun = await Promise.all([shop.begin(buyer), shop.begin(buyer, { credits: "price_pack" })]);
    const made = [...stripe.customers.values()].filter(({ account }) => account === buyer.id);
    expect(begun.map((session) => stripe.sessions.get(session)?.customer)).toEqual(
      begun.map(() => made[0]?.id),
    );
    expect(made).toHaveLength(1);
  });

  it("an approval of an app waits for the end of the session in which it was pressed, and approves nothing", async () => {
    const { id, browser } = await shop.admit();
    await browser.open(authorizePath("native", redirectUri));
    const question = await readQuestion(browser);
    const end = await stage.change(
      `UPDATE accounts SET id = id WHERE id NOT LIKE '%standing-by%'; DELETE FROM local_sessions WHERE account_id = '${id}'`,
    );
    const pressed = browser.submit("/connect/answer", { ...question, answer: "approve" });
    await waitsInStore();
    await end();
    expect((await pressed).headers.location).toMatch(/^\/connect\?request=[^&]+&problem=again&away$/);
    expect(await stage.query(`SELECT kind FROM local_sessions WHERE account_id = '${id}'`)).toEqual([]);
    expect(await stage.query("SELECT id_hash FROM connect_state WHERE kind = 'Grant'")).toEqual([]);
  });

  it("an erasure and what others write about the account leave no more of it than the one after the other", async () => {
    worker.nowMs = stripe.nowMs;
    const admit = () => shop.admitLicensed("--trial-ends", "2026-01-01", "--credits", "100");
    const write = async ({ id, browser }: Buyer) => {
      const answers = await Promise.all([
        ...Array.from({ length: copies }, () =>
          worker.post(`/v1/accounts/${id}/spends`, { credits: "1", reason: "A page" }),
        ),
        browser.submit("/home/credits/limits", { account: id, limit: "5", below: "" }),
        browser.submit("/home/token", { account: id }),
      ]);
      expect(answers.filter(({ status }) => status >= 500)).toEqual([]);
    };
    const erase = ({ email }: Buyer) => service.adminJson("person", "erase", email);
    /** The tables that name the account. */
    const leftOf = async ({ id }: Buyer) => {
      const tables = await Promise.all(
        (await listTables(stage)).map(async (table) => {
          const rows = await stage.query(`SELECT * FROM ${table}`);
          return rows.some((row) => Object.values(row).includes(id)) ? [table] : [];
        }),
      );
      return tables.flat().sort();
    };
    const { buyer: quiet } = await admit();
    await write(quiet);
    await erase(quiet);
    const stays = await leftOf(quiet);
    for (let time = 0; time < 4; time++) {
      const { buyer } = await admit();
      await Promise.all([write(buyer), erase(buyer)]);
      expect(await leftOf(buyer)).toEqual(stays);
    }
  });
});
