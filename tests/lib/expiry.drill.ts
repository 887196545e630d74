import { readdirSync } from "node:fs";
import { afterAll, describe, expect, inject, it } from "vitest";
import { dayMs, hourMs } from "@/lib/config/durations";
import { Authenticator } from "@/tests/support/authenticator";
import { BackendCaller, withBackendApi } from "@/tests/support/backend-caller";
import { startShop } from "@/tests/support/block";
import { Browser } from "@/tests/support/browser";
import { besideDatabaseUrl, eventually } from "@/tests/support/databases";
import { engines } from "@/tests/support/engines";
import { EventReceiver } from "@/tests/support/event-receiver";
import { over } from "@/tests/support/expiry";
import { authorizePath, redirectUri } from "@/tests/support/oauth-libraries";
import { OfficeBrowser } from "@/tests/support/office-browser";
import { connectApps, refresh } from "@/tests/support/owner";
import { add, signInWith } from "@/tests/support/passkeys";
import { reservePort } from "@/tests/support/port";
import { startRedisBridge } from "@/tests/support/redis-bridge";
import { startRedisServer } from "@/tests/support/redis-servers";

/* A week of everyone who comes, on the service's clock, and then two years of no one. */

const secret = "a-secret-of-32-characters-or-so!";
const everyMs = 12 * hourMs;
const ticksOfWeek = 14;

describe.runIf(inject("redisPort")).each(engines)("a week of ordinary traffic on $name", async (engine) => {
  const redis = await startRedisServer();
  const bridge = await startRedisBridge(redis.port);
  const receiver = await EventReceiver.start();
  afterAll(async () => {
    await bridge.stop();
    await receiver.stop();
    redis.redis.disconnect();
  });
  const shop = await startShop(engine, {
    ...(await withBackendApi(bridge.environment)),
    ...besideDatabaseUrl,
    OFFICE_PORT: String(await reservePort()),
    SIGN_IN: "local",
    CRON_SECRET: secret,
    TRUSTED_PROXY_HOPS: "1",
  });
  const { service, stage, stripe } = shop;

  /** What the service does by itself, by its clock. */
  async function doRounds(): Promise<void> {
    const answer = await service.ask("/hooks/cron", { headers: { authorization: `Bearer ${secret}` } });
    expect(answer.status, answer.text).toBe(204);
  }
  /** Rows that were over before the last rounds, by their tables. */
  async function findOver(): Promise<string[]> {
    const found: string[] = [];
    for (const { table, kind } of over) {
      const { at, afterMs = () => 0, as = {} } = kind;
      if (table === "event_counters") continue;
      const terms = Object.entries(as).filter(([column]) => column !== "seq");
      const where = [
        `${at} <= ${stripe.nowMs() - afterMs() - hourMs}`,
        ...terms.map(([column, value]) => `${column} = '${value}'`),
        ...(table === "email_changes" && at === "asked_at_ms" ? ["changed_at_ms IS NULL"] : []),
      ];
      const rows = await stage.query(`SELECT * FROM ${table} WHERE ${where.join(" AND ")}`);
      if (rows.length > 0) found.push(`${rows.length} of ${table}, such as ${JSON.stringify(rows[0])}`);
    }
    return found;
  }
  async function findLasting(): Promise<string[]> {
    const keys = await redis.redis.keys("*");
    const left = await Promise.all(keys.map((key) => redis.redis.pttl(key)));
    return keys.filter((_, at) => left[at] === -1);
  }
  const filesLeft = () =>
    readdirSync(service.dataDir, { recursive: true, encoding: "utf8" }).filter(
      (name) => !/^(app-secret|mail|store\.sqlite(-wal|-shm)?)$/.test(name),
    );

  it("leaves no row, key or file that is over", { timeout: 300_000 }, async () => {
    const worker = await BackendCaller.add(service, "worker");
    worker.nowMs = stripe.nowMs;
    await service.adminJson("webhook", "add", receiver.url);
    const operator = await OfficeBrowser.enrol(service, "ada");
    const licensed = await shop.admitLicensed("--trial-ends", "2026-01-01", "--credits", "1000");
    const tokens = await connectApps(licensed.buyer.browser, service, 2);
    let made = 0;
    let longest = 0;

    /** Half a day of strangers, owners, apps, systems and operators. */
    async function live(tick: number): Promise<void> {
      const from = (n: number) => ({ "x-forwarded-for": `10.${tick}.${n}.1` });
      await Promise.all(
        Array.from({ length: 40 }, (_, n) => service.ask("/api/health", { headers: from(n) })),
      );
      for (let n = 0; n < 3; n++) {
        const stranger = new Browser(service);
        await stranger.submit("/sign-in/send", { email: `stranger-${++made}@example.com` });
        await stranger.submit("/sign-in/redeem", { code: "000000" });
        await stranger.submit("/waitlist/join", { email: `waits-${made}@example.com` });
      }
      await service.submit("/oauth/device", { client_id: "native" });
      await new Browser(service).open(authorizePath("native", redirectUri));
      const owner = await shop.admit("--plan", "trial", "--credits", "10");
      const key = new Authenticator(service.url);
      await add(owner.browser, key);
      key.counter++;
      await signInWith(new Browser(service), key);
      await owner.browser.submit("/home/account/email", {
        account: owner.id,
        email: `new-${made}@example.com`,
      });
      const [app = ""] = await connectApps(owner.browser, service, 1);
      await refresh(service, app);
      for (const [n, token] of tokens.entries()) {
        const { status, text } = await refresh(service, token);
        expect(status, text).toBe(200);
        const { refresh_token, access_token } = JSON.parse(text);
        tokens[n] = refresh_token;
        expect(await service.statusFor(access_token)).toBe(200);
      }
      await worker.post(`/v1/accounts/${licensed.buyer.id}/spends`, { credits: "1", reason: "A page" });
      await worker.post(`/v1/accounts/${licensed.buyer.id}/holds`, { credits: "1", reason: "A page" });
      await shop.begin(licensed.buyer, { credits: "price_pack" });
      await shop.deliverAll();
      await operator.signIn();
      await operator.open("/today");
      await service.adminJson("invite", `guest-${made}@example.com`);
      await service.ask(await service.unsubscribePath(owner.email), {
        method: "POST",
        body: "List-Unsubscribe=One-Click",
      });
      if (tick % 4 === 1) await owner.browser.submit("/home/account/delete", { account: owner.id });
      if (tick % 4 === 3) await service.adminJson("person", "erase", owner.email);
    }

    const filled = new Set<string>();
    async function noteFilled(): Promise<void> {
      for (const { table } of over)
        if ((await stage.query(`SELECT 1 FROM ${table} LIMIT 1`)).length > 0) filled.add(table);
    }
    for (let tick = 0; tick < ticksOfWeek; tick++) {
      await live(tick);
      await noteFilled();
      longest = Math.max(longest, (await redis.redis.keys("*")).length);
      expect(await findLasting()).toEqual([]);
      shop.pass(everyMs);
      await doRounds();
      expect(await findOver(), `tick ${tick}`).toEqual([]);
    }
    // What apps were told is written a second later.
    await eventually(async () => {
      await noteFilled();
      const empty = over.map(({ table }) => table).filter((table) => !filled.has(table));
      expect(new Set(empty), "what was not tried").toEqual(
        new Set(["clerk_sessions_ended", "status_outages"]),
      );
    });
    expect(longest, "keys in Redis").toBeGreaterThan(40);
    expect(receiver.received.length).toBeGreaterThan(ticksOfWeek);
    for (let day = 0; day < 760; day += 95) {
      shop.pass(95 * dayMs);
      for (let round = 0; round < 3; round++) await doRounds();
      expect(await findOver(), `day ${day}`).toEqual([]);
    }
    expect(await findLasting()).toEqual([]);
    expect(filesLeft()).toEqual([]);
  });
});
