import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { addCredits, deleteAccount, findAccount, setAccount } from "@/lib/accounts/accounts";
import { setCreditLimits } from "@/lib/accounts/credits/credit-limits";
import { addAccount } from "@/lib/accounts/joining/invitations";
import { endSessionsOf } from "@/lib/auth/sessions/session-end";
import type { CreditWrite } from "@/lib/backend/credit-rules";
import { listEvents } from "@/lib/backend/event-list";
import { writeCredits } from "@/lib/backend/write-groups";
import { deliveryDays, eventDays } from "@/lib/config/lifetimes";
import type { Db } from "@/lib/db/store";
import { transact } from "@/lib/db/transaction";
import { tellDueEvents } from "@/lib/events/due-events";
import { sweepEvents } from "@/lib/events/event-sweep";
import { addWebhook, describeWebhook, listWebhooks, resendOne } from "@/lib/events/webhooks";
import { approveApp, beginAppSession, startAppSession } from "@/lib/oauth/app-session";
import { BackendCaller, withBackendApi } from "@/tests/support/backend-caller";
import { startShop } from "@/tests/support/block";
import { engines } from "@/tests/support/engines";

const dayMs = 86_400_000;
const email = "ceo@example.com";

let keys = 0;

async function write(db: Db, write: CreditWrite, nowMs = Date.now()) {
  const answer = ([outcome]: readonly unknown[]) => {
    if (outcome instanceof Error) throw outcome;
    return JSON.stringify(outcome);
  };
  const keyHash = `key-${keys++}`;
  return JSON.parse(
    await writeCredits(db, { backend: "worker", keyHash, digest: "", writes: [write], answer }, () => nowMs),
  );
}

/** Reads events page by page, from the beginning or after an earlier reading. */
function reader(db: Db, limit = 1000) {
  let after: string | undefined;
  return async () => {
    const told: { type: string; data: Record<string, unknown> }[] = [];
    for (;;) {
      const { events, next } = await listEvents(db, after, limit);
      after = next ?? undefined;
      told.push(...events);
      if (events.length < limit) return told;
    }
  };
}

describe.each(engines)("the events on $name", (engine) => {
  it("tell every act upon an account, in its order, with ids and figures alone", async () => {
    const stage = await engine.prepare();
    const db = await stage.open();
    const read = reader(db);
    const nowMs = Date.now();
    const endsAtMs = nowMs + dayMs;
    const { id } = await addAccount(
      db,
      email,
      { credit_thousandths: 10_000, trial_ends_at_ms: endsAtMs },
      nowMs,
    );
    const account = { account: id };
    const trialEndsAt = new Date(endsAtMs).toISOString();
    const own = { ownFeatures: null, ownLimits: null, givenEndsAt: null };
    const trial = { status: "trial", plan: "trial", trialEndsAt, assistantLimit: null, ...own };
    expect(await read()).toEqual([
      {
        id: expect.stringMatching(/^evt_[\da-f]{32}$/),
        type: "account.created",
        timestamp: expect.stringMatching(/^20\d\d-\d\d-\d\dT[\d:.]+Z$/),
        data: { ...account, number: 1 },
      },
      expect.objectContaining({
        type: "credits.changed",
        data: { ...account, number: 2, before: { balance: 0, held: 0 }, after: { balance: 10, held: 0 } },
      }),
    ]);

    const acts: [string, () => Promise<unknown>, ...(readonly [string, object])[]][] = [
      [
        "account set",
        () => setAccount(db, email, { assistant_limit: 7 }, nowMs),
        ["entitlement.changed", { before: trial, after: { ...trial, assistantLimit: 7 } }],
      ],
      ["account set to the same", () => setAccount(db, email, { assistant_limit: 7 }, nowMs)],
      [
        "credits add",
        () => addCredits(db, email, { thousandths: -500, reason: "taken" }, nowMs),
        ["credits.changed", { before: { balance: 10, held: 0 }, after: { balance: 9.5, held: 0 } }],
      ],
      [
        "a spend",
        () => write(db, { kind: "spend", account: id, thousandths: 125, reason: "a page" }),
        ["credits.changed", { before: { balance: 9.5, held: 0 }, after: { balance: 9.375, held: 0 } }],
      ],
      [
        "spends that cross what the owner chose",
        async () => {
          const limits = { monthly_thousandths: null, mail_below_thousandths: 9300 };
          const owner = { account: { id, email }, by: "owner" } as Parameters<typeof setCreditLimits>[1];
          await setCreditLimits(db, owner, limits, nowMs);
          for (const thousandths of [100, 25])
            await write(db, { kind: "spend", account: id, thousandths, reason: "a page" });
          await addCredits(db, email, { thousandths: 125, reason: "given" }, nowMs);
          await setCreditLimits(db, owner, { ...limits, mail_below_thousandths: null }, nowMs);
        },
        ["credits.low", { below: 9.3 }],
        ["credits.changed", { before: { balance: 9.375, held: 0 }, after: { balance: 9.275, held: 0 } }],
        ["credits.changed", { before: { balance: 9.275, held: 0 }, after: { balance: 9.25, held: 0 } }],
        ["credits.changed", { before: { balance: 9.25, held: 0 }, after: { balance: 9.375, held: 0 } }],
      ],
      [
        "a hold that is released",
        async () => {
          const hold = { kind: "hold", account: id, thousandths: 1000, reason: "a film" } as const;
          const { id: held } = await write(db, { ...hold, expiresInSeconds: 60 });
          await write(db, { kind: "release", hold: held });
        },
        ["credits.changed", { before: { balance: 9.375, held: 0 }, after: { balance: 8.375, held: 1 } }],
        ["credits.changed", { before: { balance: 8.375, held: 1 }, after: { balance: 9.375, held: 0 } }],
      ],
      [
        "an app that was approved and connects",
        async () => {
          const app = { id: "sess_grant", account_id: id, name: "Desk of Ann", app_origin: "desk.example" };
          await approveApp(db, app, email, nowMs);
          await transact(db, (transaction) => beginAppSession(transaction, "grant", nowMs));
        },
        ["app.connected", { app: "sess_grant" }],
      ],
      [
        "an app that its owner ends",
        () =>
          endSessionsOf(db, { accountId: id, which: { kind: "app" }, by: "owner", what: "app end" }, nowMs),
        ["app.ended", { app: "sess_grant", reason: "owner" }],
      ],
      [
        "another email",
        // As by hand, or by a build that knows no events.
        () => stage.query("UPDATE accounts SET email = 'other@example.com'"),
        ["email.changed", {}],
      ],
      [
        "a checkout that is paid, and one that is not",
        async () => {
          for (const state of ["fulfilled", "failed"]) {
            await stage.query(
              `INSERT INTO billing_checkouts (id, account_id, kind, price_id, thousandths, state, created_at_ms) VALUES ('${state}', '${id}', 'credits', 'price_pack', 5000, 'open', 0)`,
            );
            await stage.query(`UPDATE billing_checkouts SET state = '${state}' WHERE id = '${state}'`);
          }
        },
        ["purchase.completed", { kind: "credits", purchase: "fulfilled", price: "price_pack", credits: 5 }],
        ["payment.failed", { kind: "credits", purchase: "failed" }],
      ],
      ["deletion", () => deleteAccount(db, "other@example.com", "operator", nowMs), ["account.deleted", {}]],
    ];
    let number = 2;
    for (const [name, act, ...wanted] of acts) {
      await act();
      const told = (await read()).map(({ type, data }) => [type, data]);
      const numbered = wanted.map(([type, data]) => [type, { ...account, number: ++number, ...data }]);
      expect(told, name).toEqual(numbered);
    }
    const [{ data }] = (await stage.query("SELECT string_agg(data, ' ') AS data FROM events")) as [
      { data: string },
    ];
    expect(data).not.toMatch(/@|Ann|desk|taken|a page|a film/);
    await stage.clear();
  });

  it("tell what time alone ends, once, with several instances", async () => {
    const stage = await engine.prepare();
    const dbs = [await stage.open(), await stage.open()] as const;
    const [db] = dbs;
    const nowMs = Date.now();
    const endsAtMs = nowMs + dayMs;
    const { id } = await addAccount(
      db,
      email,
      { credit_thousandths: 3000, trial_ends_at_ms: endsAtMs },
      nowMs,
    );
    const { id: bystander } = await addAccount(db, "by@example.com", { plan: "hobby" }, nowMs);
    await startAppSession(
      db,
      { id: "sess_idle", account_id: id, name: "Desk", app_origin: "a device" },
      nowMs,
    );
    const spend = { account: id, thousandths: 1000, reason: "a film" };
    const hold = await write(db, { ...spend, kind: "hold", expiresInSeconds: 60 }, nowMs);
    const read = reader(db, 2);
    await read();
    const pass = (atMs: number) => Promise.all([...dbs, ...dbs].map((one) => tellDueEvents(one, atMs)));
    await pass(nowMs + 59_999);
    expect(await read()).toEqual([]);
    await pass(nowMs + 60_000);
    expect(await read()).toMatchObject([
      { type: "hold.expired", data: { account: id, hold: hold.id, credits: 1 } },
      { type: "credits.changed", data: { before: { balance: 2, held: 1 }, after: { balance: 3, held: 0 } } },
    ]);
    await pass(endsAtMs - 1);
    expect(await read()).toEqual([]);
    await pass(endsAtMs);
    const trialEndsAt = new Date(endsAtMs).toISOString();
    expect(await read()).toMatchObject([
      {
        type: "entitlement.changed",
        data: {
          account: id,
          before: { status: "trial", trialEndsAt },
          after: { status: "trial-ended", trialEndsAt },
        },
      },
    ]);
    await pass(nowMs + 31 * dayMs);
    expect(await read()).toMatchObject([
      { type: "app.ended", data: { account: id, app: "sess_idle", reason: "idle" } },
    ]);
    // What was told is the beginning of the next change, and a longer trial ends again.
    await setAccount(
      db,
      email,
      { plan: "trial", trial_ends_at_ms: endsAtMs + 40 * dayMs },
      nowMs + 32 * dayMs,
    );
    await pass(endsAtMs + 40 * dayMs);
    expect((await read()).map(({ data }) => data)).toMatchObject([
      { before: { status: "trial-ended" }, after: { status: "trial" } },
      { before: { status: "trial" }, after: { status: "trial-ended" } },
    ]);
    await addCredits(db, "by@example.com", { thousandths: 1, reason: "given" }, nowMs);
    expect(await read()).toMatchObject([
      { type: "credits.changed", data: { account: bystander, number: 2 } },
    ]);
    await stage.clear();
  });

  it("are kept for their days, and a reader who was away longer is told that some are gone", async () => {
    const stage = await engine.prepare();
    const db = await stage.open();
    const { id } = await addAccount(db, email, { plan: "hobby" }, Date.now());
    const first = await listEvents(db, undefined, 1);
    const add = () => addCredits(db, email, { thousandths: 1, reason: "given" }, Date.now());
    await add();
    await add();
    const { next: last } = await listEvents(db, first.next ?? undefined, 10);
    await add(); // which no one has listed
    const laterMs = Date.now() + eventDays * dayMs;
    await sweepEvents(db, laterMs - 60_000);
    expect((await listEvents(db, undefined, 10)).events).toHaveLength(4);
    await sweepEvents(db, laterMs + 60_000);
    await expect(listEvents(db, last ?? undefined, 10)).rejects.toMatchObject({ refusal: "events_gone" });
    for (const after of ["7", "evt_none", `9.${first.events[0]?.id}`, "x"])
      await expect(listEvents(db, after, 10), after).rejects.toMatchObject({ refusal: "events_gone" });
    await add();
    const { events } = await listEvents(db, undefined, 10);
    expect(events).toMatchObject([{ data: { account: id, number: 5 } }]);
    await deleteAccount(db, email, "operator", Date.now());
    const {
      events: [deletion],
      next,
    } = await listEvents(db, events[0]?.id, 10);
    await sweepEvents(db, laterMs + 120_000);
    // One who has read everything has lost nothing, by the id of a webhook either.
    for (const after of [next, deletion?.id])
      expect(await listEvents(db, after ?? undefined, 10)).toEqual({ events: [], next: after });
    expect(await stage.query("SELECT * FROM event_counters")).toEqual([]);
    await expect(findAccount(db, email)).rejects.toThrow("no account");
    await addAccount(db, email, { plan: "hobby" }, Date.now());
    for (const after of [next, deletion?.id])
      expect((await listEvents(db, after ?? undefined, 10)).events).toMatchObject([{ data: { number: 1 } }]);
    await stage.clear();
  });

  it("are kept with younger ones before them, where a clock was ahead for a time", async () => {
    const stage = await engine.prepare();
    const db = await stage.open();
    const { id } = await addAccount(db, email, { plan: "hobby" }, Date.now());
    const happen = async (count: number, atMs: number) => {
      const ids = Array.from({ length: count }, () => `evt_${randomBytes(16).toString("hex")}`);
      const rows = ids.map((one) => `('${one}', '${id}', 'credits.changed', '{}', ${atMs})`);
      await stage.query(`INSERT INTO events (id, account_id, type, data, at_ms) VALUES ${rows.join()}`);
    };
    const laterMs = Date.now() + eventDays * dayMs;
    await happen(600, laterMs - dayMs);
    await happen(1, Date.now() - 2 * dayMs);
    await sweepEvents(db, laterMs - dayMs - 60_000);
    expect((await listEvents(db, undefined, 1000)).events).toHaveLength(602);
    await sweepEvents(db, laterMs + eventDays * dayMs);
    expect((await listEvents(db, undefined, 1000)).events).toEqual([]);
    await stage.clear();
  });

  it("are given up by a webhook for which they wait when they are deleted", async () => {
    const stage = await engine.prepare();
    const db = await stage.open();
    const account = await addAccount(db, email, { plan: "hobby" }, Date.now());
    const { events } = await listEvents(db, undefined, 1);
    const { id } = await addWebhook(db, { url: "http://127.0.0.1:9/events" }, Date.now());
    await resendOne(db, id, events[0]?.id ?? "", {}, Date.now());
    await addCredits(db, email, { thousandths: 1, reason: "given" }, Date.now());
    await listEvents(db, undefined, 10);
    const read = async () => {
      const [row] = await listWebhooks(db);
      return row && (await describeWebhook(db, row));
    };
    expect(await read()).toMatchObject({ waiting: 2, failed: 0 });
    const laterMs = Date.now() + eventDays * dayMs + 60_000;
    const younger = `evt_${randomBytes(16).toString("hex")}`;
    await stage.query(
      `INSERT INTO events (id, account_id, type, data, at_ms) VALUES ('${younger}', '${account.id}', 'credits.changed', '{}', ${laterMs})`,
    );
    await listEvents(db, undefined, 10);
    await resendOne(db, id, younger, {}, Date.now());
    const states = () => stage.query("SELECT state FROM webhook_deliveries ORDER BY number");
    await sweepEvents(db, laterMs);
    expect(await states()).toEqual([{ state: "failed" }, { state: "waiting" }]);
    expect(await read()).toMatchObject({ failed: 1 });
    await sweepEvents(db, laterMs + deliveryDays * dayMs);
    expect(await states()).toEqual([{ state: "waiting" }]);
    await sweepEvents(db, laterMs + eventDays * dayMs);
    expect(await read()).toMatchObject({ waiting: 0, failed: 1 });
    await stage.clear();
  });

  it("are complete and in order for a reader next to writers that end in any order", async () => {
    const stage = await engine.prepare();
    const db = await stage.open();
    const accounts: string[] = [];
    for (let n = 0; n < 5; n++) {
      const terms = { plan: "hobby", credit_thousandths: 1_000_000 } as const;
      accounts.push((await addAccount(db, `ceo${n}@example.com`, terms, Date.now())).id);
    }
    const other = await stage.open();
    const [one, two] = [reader(db, 7), reader(other, 50)];
    const told: Awaited<ReturnType<typeof one>>[] = [[], []];
    const readBoth = async () => {
      told[0]?.push(...(await one()));
      told[1]?.push(...(await two()));
    };
    for (let round = 0; round < 12; round++) {
      const writes = [0, 1, 2, 3, 4].map((n) => {
        const entry = { thousandths: -1, reason: "x" };
        return addCredits(n % 2 ? db : other, `ceo${n}@example.com`, entry, Date.now());
      });
      await Promise.all([...writes, readBoth()]);
    }
    await readBoth();
    expect(told[0]).toEqual(told[1]);
    for (const account of accounts) {
      const own = (told[0] ?? []).filter(({ data }) => data.account === account);
      expect(own.map(({ data }) => data.number)).toEqual(Array.from({ length: 14 }, (_, at) => at + 1));
      const balances = own.slice(1).map(({ data }) => (data.after as { balance: number }).balance);
      expect(balances).toEqual(Array.from({ length: 13 }, (_, at) => (1_000_000 - at) / 1000));
    }
    await stage.clear();
  });
});

describe.each(engines)("GET /v1/events on $name", async (engine) => {
  const shop = await startShop(engine, await withBackendApi());
  const { service, stripe, stage } = shop;
  const caller = await BackendCaller.add(service, "books", "read");
  let after = "";

  async function read(): Promise<{ type: string; data: Record<string, unknown> }[]> {
    const { status, text } = await caller.get(`/v1/events?limit=1000&after=${after}`);
    expect(status).toBe(200);
    const { events, next } = JSON.parse(text);
    after = next ?? "";
    return events;
  }
  const readTypes = async () => (await read()).map(({ type }) => type);

  it("tells what is bought and what is not paid, once", async () => {
    const { buyer, subscription } = await shop.admitLicensed("--trial-days", "7");
    const told = await read();
    expect(told.map(({ type }) => type)).toEqual([
      "account.created",
      "entitlement.changed",
      "purchase.completed",
    ]);
    expect(told[1]?.data).toMatchObject({
      account: buyer.id,
      before: { status: "trial" },
      after: { status: "licensed", trialEndsAt: null, assistantLimit: null },
    });
    expect(told[2]?.data).toMatchObject({ kind: "licence", price: "price_month", credits: 0 });
    await shop.buy(buyer, { credits: "price_pack" });
    await shop.deliverAll();
    expect(await readTypes()).toEqual(["credits.changed", "purchase.completed"]);
    stripe.renew(subscription, { isPaid: false });
    await shop.deliverAll();
    expect(await read()).toMatchObject([
      { type: "payment.failed", data: { account: buyer.id, kind: "licence", subscription } },
    ]);
    await shop.deliverAll();
    expect(await read()).toEqual([]);
  });

  it("tells an erasure as a deletion, and nothing of the anonymous account that stays", async () => {
    const { id } = await service.adminJson("account", "add", "gone@example.com", "--credits", "3");
    await read();
    await service.admin("person", "erase", "gone@example.com");
    expect(await read()).toMatchObject([{ type: "account.deleted", data: { account: id } }]);
    const untold = "plan = 'trial' AND trial_end_told_ms IS NULL AND email LIKE '%erased%'";
    expect(await stage.query(`SELECT id FROM accounts WHERE ${untold}`)).toEqual([]);
  });

  it("is complete for a reader who was away, also of an account that is gone, and refuses what is none", async () => {
    await service.admin("account", "add", "quick@example.com", "--plan", "hobby");
    await service.admin("account", "set", "quick@example.com", "--plan", "licensed");
    await service.admin("account", "delete", "quick@example.com");
    const told = await read();
    expect(told.map(({ type, data }) => [type, data.number])).toEqual([
      ["account.created", 1],
      ["entitlement.changed", 2],
      ["account.deleted", 3],
    ]);
    const { status, text } = await caller.get("/v1/events?after=evt_none");
    expect([status, JSON.parse(text).error.code]).toEqual([410, "events_gone"]);
    const exported = await service.adminJson("person", "export", "buyer-1@example.com");
    expect(exported.events).toContainEqual(expect.objectContaining({ type: "payment.failed" }));
  });
});
