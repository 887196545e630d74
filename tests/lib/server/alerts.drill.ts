import { execFileSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeEach, describe, expect, it } from "vitest";
import { dayMs, hourMs } from "@/lib/config/durations";
import { writableAddress } from "@/lib/db/postgres/hosts";
import type { Retirement } from "@/lib/http/route";
import { startPlainPair } from "@/tests/failover/plain-pair";
import { Browser } from "@/tests/support/browser";
import { makeClock } from "@/tests/support/clock";
import { eventually, isInstalled, startRedis, stopDatabase } from "@/tests/support/databases";
import { EventReceiver } from "@/tests/support/event-receiver";
import { createFolder } from "@/tests/support/leash";
import { mountInMemory } from "@/tests/support/mount";
import { reservePort } from "@/tests/support/port";
import { Service, sendTo } from "@/tests/support/service";
import { sessionIn } from "@/tests/support/shop";
import { codeIn, startSmtpInbox } from "@/tests/support/smtp-inbox";
import { openPostgres } from "@/tests/support/stores";
import { StripeStandIn } from "@/tests/support/stripe-stand-in";

type Scrape = ReadonlyMap<string, number>;

const rules = resolve("lib/server/watching/alerts.yml");
const mailUp = "corner_office_mail_up";
const oldestDue = "corner_office_outbox_oldest_due_seconds";
const failedQueries = 'corner_office_store_seconds_count{outcome="failed"';
const lag = "nodejs_eventloop_lag_p99_seconds";
const slowSeconds = 0.25; // half of what ProcessSuffers minds
/** The metrics that the alerts use, and the one that says which instance could not send. */
const used = new Set([
  mailUp,
  ...(readFileSync(rules, "utf8").match(/\b(?:corner_office|nodejs)_\w+/g) ?? []),
]);

/** The values of each series, one every few seconds; `undefined` where it was not scraped. */
class Recording {
  private readonly series = new Map<string, (number | undefined)[]>();
  private scrapes = 0;
  private last: Scrape = new Map();

  /** @param everySeconds - how far scrapes are apart: a quarter of a minute, as in our own prometheus.yml */
  constructor(private readonly everySeconds = 15) {}

  /** Adds minutes in each of which happens what happened between two scrapes: counters grow evenly, and the rest stays. */
  add(minutes: number, before: Scrape, after: Scrape, nowMs: number): void {
    const [first, scrapes] = [this.scrapes, (minutes * 60) / this.everySeconds];
    for (let scrape = 0; scrape < scrapes; scrape++) {
      const now = new Map<string, number>();
      for (const [name, value] of after) {
        const grown = (value - (before.get(name) ?? 0)) / Math.min(scrapes, 60 / this.everySeconds);
        now.set(name, isCounter(name) ? (this.last.get(name) ?? 0) + grown : value);
        // Prometheus' own tool begins in 1970, and the last of these scrapes is made now.
        if (name.includes("_timestamp_seconds"))
          now.set(name, value - nowMs / 1000 + (first + scrapes - 1) * this.everySeconds);
      }
      for (const [name, value] of now) {
        const values = this.series.get(name) ?? [];
        values[this.scrapes] = value;
        this.series.set(name, values);
      }
      this.last = now;
      this.scrapes++;
    }
  }

  /** As a restart does. */
  forget(instance: string): void {
    this.last = new Map([...this.last].filter(([name]) => !name.includes(`instance="${instance}"`)));
  }

  /** What Prometheus' own tool makes of it: the alerts that fired in the last minutes before each of these minutes. */
  expectFired(fired: Record<number, string[]>, withinMinutes = 1): void {
    const input = [...this.series].map(([series, values]) => ({
      series,
      values: Array.from({ length: this.scrapes }, (_, at) => values[at] ?? "_").join(" "),
    }));
    const tests = Object.entries(fired).map(([minute, alerts]) => {
      // How many queries of background work fail in a minute of an outage depends on how long that really took.
      const left = alerts.includes("StoreGone") ? "StoreFails" : "";
      const firing = `ALERTS{alertstate="firing", alertname!="${left}"}`;
      return {
        expr: `sum by (alertname) (last_over_time(${firing}[${withinMinutes}m])) ^ 0`,
        eval_time: `${minute}m`,
        exp_samples: alerts.map((name) => ({ labels: `{alertname="${name}"}`, value: 1 })),
      };
    });
    const file = join(createFolder(), "recorded.yml"); // JSON is YAML
    const interval = `${this.everySeconds}s`;
    const test = { interval, input_series: input, promql_expr_test: tests };
    writeFileSync(
      file,
      JSON.stringify({ rule_files: [rules], evaluation_interval: interval, tests: [test] }),
    );
    execFileSync("promtool", ["test", "rules", file], { encoding: "utf8", stdio: "pipe" });
  }
}

const isCounter = (name: string) => /_(?:total|count|sum)\b/.test(name.split("{")[0] ?? "");

/** Two instances that share all that a service can use, on one clock, with a balancer's polls and few users. */
async function startSite() {
  const pair = await startPlainPair({ isSynchronous: true });
  const redis = await startRedis();
  if (!pair || !redis) throw new Error("PostgreSQL and Redis are needed");
  const [inbox, stripe, clock] = [await startSmtpInbox(), await StripeStandIn.start(), makeClock()];
  stripe.nowMs = clock.now;
  const inDays = (days: number) => new Date(Date.now() + days * dayMs).toISOString();
  const retirement: Retirement = {
    announcedAt: inDays(-70),
    deprecatedAt: inDays(-20),
    sunsetAt: inDays(31),
    guide: "/docs/api/policy",
  };
  const environment = {
    ...stripe.environment,
    ...clock.environment,
    NODE_OPTIONS: `${clock.environment.NODE_OPTIONS} --import ./tests/support/retiring.mjs`,
    TEST_RETIREMENT: JSON.stringify(retirement),
    DATABASE_URL: pair.url,
    REDIS_URL: `redis://127.0.0.1:${redis.port}`,
    APP_SECRET: "s".repeat(43),
    SIGN_IN: "local",
    EMAIL_FROM: "office@example.com",
    SMTP_URL: `smtp://127.0.0.1:${inbox.port}`,
    BACKUP_PASSPHRASE: "correct horse battery staple",
  };
  const disk = mountInMemory();
  const start = async (more: Record<string, string>) => {
    const METRICS_PORT = String(await reservePort());
    const service = await Service.start({ ...environment, ...more, METRICS_PORT });
    await service.ready();
    return service;
  };
  const instances = { a: await start(disk ? { DATA_DIR: disk.folder } : {}), b: await start({}) };
  const { a, b } = instances;
  await a.adminJson("account", "add", "ceo@example.com");
  const scrape = async (): Promise<Scrape> => {
    const found = new Map<string, number>();
    for (const [name, service] of Object.entries(instances)) {
      const labels = `job="corner-office",instance="${name}"`;
      const port = Number(service.environment.METRICS_PORT);
      const answer = await sendTo(port, "/metrics", {}).catch(() => undefined);
      found.set(`up{${labels}}`, answer ? 1 : 0);
      for (const [, series = "", own, value] of answer?.text.matchAll(/^(\w+)(?:\{(.*)\})? (\S+)$/gm) ?? [])
        if (used.has(series)) found.set(`${series}{${own ? `${own},` : ""}${labels}}`, Number(value));
    }
    return found;
  };

  /** Asks again while this machine's other work holds an instance up, which would be made of all minutes that are recorded. */
  const scrapeCalmly = () =>
    eventually(async () => {
      const found = await scrape();
      for (const [name, value] of found) if (name.startsWith(lag)) expect(value).toBeLessThan(slowSeconds);
      return found;
    });

  let token = { of: "", untilMs: 0 };
  /** A user's request. Returns its status, if there is an answer. */
  const request = (service: Service) => service.statusFor(token.of).catch(() => undefined);
  const renewToken = async () => {
    if (clock.now() > token.untilMs)
      token = { of: await b.token("ceo@example.com"), untilMs: clock.now() + hourMs / 6 };
  };
  /** Six requests of users and a hundred and twenty polls, as far as the instances answer. */
  const liveAMinute = () =>
    Promise.all(
      Object.values(instances).map(async (service) => {
        for (let poll = 0; poll < 60; poll++) await service.ask("/ready").catch(() => {});
        for (let n = 0; n < 3; n++) await request(service);
      }),
    );

  return {
    pair,
    redis,
    inbox,
    stripe,
    clock,
    disk,
    instances,
    a,
    b,
    scrape,
    request,
    liveAMinute,
    renewToken,
    /** Signs a browser in with the code that is mailed. */
    async signIn(email: string) {
      const browser = new Browser(b);
      await browser.submit("/sign-in/send", { email });
      const code = await eventually(() => {
        const [mailed] = inbox.received
          .filter(({ to }) => to === email)
          .flatMap((mail) => codeIn(mail) ?? []);
        return mailed ?? Promise.reject(new Error(`no code for ${email}`));
      });
      await browser.submit("/sign-in/redeem", { code });
      return browser;
    },
    store: async () => openPostgres((await writableAddress(pair.url)).replace(/\?.*/, "")),
    /** The value of an instance's series that begins so. */
    async read(series: string, instance: keyof typeof instances) {
      const all = [...(await scrape())];
      return all.find(([name]) => name.startsWith(series) && name.includes(`instance="${instance}"`))?.[1];
    },
    /** Waits until no mail is due for longer than seconds: mail is sent within a poll, whose seconds are ours. */
    async sendDueMail() {
      await eventually(async () => {
        for (const [name, seconds] of await scrape())
          if (name.startsWith(oldestDue)) expect(seconds, name).toBeLessThan(60);
      });
    },
    /** Records what happens in a minute as so many minutes. Returns what that does. */
    async record<T = unknown>(
      recording: Recording,
      minutes: number,
      happens: () => Promise<T> = liveAMinute as () => Promise<T>,
      look = scrapeCalmly,
    ) {
      const before = await scrapeCalmly();
      const result = await happens();
      recording.add(minutes, before, await look(), clock.now());
      return result;
    },
    /** Records minutes of the service's clock, a scrape after each `stepMinutes` of them. */
    async pass(
      recording: Recording,
      minutes: number,
      stepMinutes: number,
      happens = async (_: number) => {},
    ) {
      for (let at = 0; at < minutes; at += stepMinutes) {
        await renewToken();
        await this.record(recording, stepMinutes, async () => {
          await Promise.all([liveAMinute(), happens(at)]);
          clock.pass(stepMinutes * 60_000);
        });
      }
    },
    async stop() {
      for (const service of Object.values(instances)) await service.stop({ expectErrors: true });
      await Promise.all([inbox.stop(), stripe.stop(), stopDatabase(redis)]);
      disk?.remove();
    },
  };
}

describe.runIf(isInstalled("promtool"))(
  "two instances of a quiet site, with a balancer's polls",
  async () => {
    const site = await startSite();
    const { pair, redis, inbox, stripe, clock, disk, a, b, record, liveAMinute } = site;
    const patient = { timeout: 600_000 };

    beforeEach(async () => {
      if (a.isRunning) return; // a test that failed may have left it killed
      await a.run();
      await a.ready();
    });

    it("wake no one in an hour of ordinary trouble", patient, async () => {
      await site.renewToken();
      const quiet = new Recording();
      await record(quiet, 10);
      await record(quiet, 5, async () => {
        for (let request = 0; request < 300; request++) await b.ask("/api/health", { from: "127.0.9.1" });
        await liveAMinute();
      });

      // A mail is not taken; what waits is sent by the other instance.
      inbox.fault = "busy";
      await new Browser(a).submit("/sign-in/send", { email: "ceo@example.com" });
      const failed = await eventually(async () => {
        for (const name of ["a", "b"] as const)
          if ((await site.read(mailUp, name)) === 0) return site.instances[name];
        throw new Error("no mail has failed");
      });
      failed.signal("SIGSTOP");
      const taken = inbox.received.length;
      inbox.fault = "none";
      await eventually(() => {
        clock.pass(1000);
        expect(inbox.received.length).toBeGreaterThan(taken);
      });
      failed.signal("SIGCONT");

      // A failover: for two minutes the users' requests fail.
      const struck = await record(quiet, 2, async () => {
        const striking = pair.strike("freeze");
        expect(await Promise.all([a, a, b].map(site.request))).toContain(503);
        return striking;
      });
      await eventually(async () => expect(await a.statusFor(await b.token("ceo@example.com"))).toBe(200));
      await struck.release();
      await struck.restore();
      await site.pass(quiet, 10, 1);

      await a.stop({ expectErrors: true });
      await record(quiet, 1);
      await a.run();
      await a.ready();
      quiet.forget("a");
      await site.pass(quiet, 33, 3);
      quiet.expectFired({ 60: [] }, 60);
      expect([await site.read(mailUp, "a"), await site.read(mailUp, "b")]).toEqual([1, 1]);
    });

    it("wake people for what is away", patient, async () => {
      await site.renewToken();
      await site.sendDueMail();
      const instanceGone = new Recording();
      await record(instanceGone, 10);
      await a.kill();
      await record(instanceGone, 10);
      instanceGone.expectFired({
        11: [],
        13: ["InstanceGone"],
      });
      await a.run();
      await a.ready();

      const starved = new Recording();
      await record(starved, 10);
      const starve = async () => {
        for (let time = 0; time < 5; time++) {
          a.signal("SIGSTOP");
          await sleep(800);
          a.signal("SIGCONT");
          await sleep(100);
        }
      };
      await record(starved, 10, starve, site.scrape);
      starved.expectFired({
        14: [],
        17: ["ProcessSuffers"],
      });

      const locked = new Recording();
      await record(locked, 10);
      const store = await site.store();
      const unlock = await store.change("LOCK TABLE accounts");
      const countFailed = async () => {
        const failed = [...(await site.scrape())].filter(([name]) => name.startsWith(failedQueries));
        return failed.reduce((sum, [, queries]) => sum + queries, 0);
      };
      // Requests of one moment share a query, so how many fail in a second depends on this machine.
      await record(locked, 10, async () => {
        const enough = (await countFailed()) + 45;
        while ((await countFailed()) < enough)
          await Promise.all(Array.from({ length: 20 }, (_, n) => site.request(n % 2 ? a : b)));
      });
      await unlock();
      await store.close();
      locked.expectFired({
        14: [],
        19: ["AnswersFail", "StoreFails"],
      });
    });

    it("wake people for what does not get on, each in its time, until it is mended", patient, async () => {
      const receiver = await EventReceiver.start();
      const webhook = await b.adminJson<{ id: string }>("webhook", "add", receiver.url);
      const [owner, ...others] = Array.from({ length: 7 }, (_, n) => `owner-${n}@example.com`) as [string];
      for (const email of others) await b.adminJson("account", "add", email);
      const { id } = await b.adminJson<{ id: string }>("account", "add", owner);
      const browser = await site.signIn(owner);
      const checkout = sessionIn(
        await browser.submit("/home/checkout", { account: id, licence: "price_month" }),
      );
      stripe.pay(checkout);
      const events = stripe.takeEvents();
      await eventually(() =>
        expect(inbox.received.filter(({ to }) => to.startsWith("owner")).length).toBe(8),
      );
      const hour = new Recording();
      await site.pass(hour, 10, 1);

      inbox.fault = "busy";
      stripe.faultOf = () => "500";
      receiver.respond = (_, response) => response.writeHead(500).end();
      await b.adminJson("account", "add", "newcomer@example.com");
      for (const email of [owner, ...others]) {
        const stranger = new Browser(b);
        await stranger.submit("/sign-in/send", { email });
        for (let n = 0; n < 5; n++) await stranger.submit("/sign-in/redeem", { code: "000000" });
      }
      await eventually(async () => {
        expect([await site.read(mailUp, "a"), await site.read(mailUp, "b")]).toContain(0);
        expect(await site.read('corner_office_webhooks{state="failing"', "b")).toBe(1);
      });
      if (disk) writeFileSync(join(disk.folder, "large"), Buffer.alloc(62 << 20));
      // A transaction that someone left open in psql, while no mail was on its way.
      const store = await site.store();
      const commit = await eventually(async () => {
        const commit = await store.change("SELECT FROM onboarding_emails FOR UPDATE");
        const sending = await store.query("SELECT id FROM onboarding_emails WHERE state = 'sending'");
        if (sending.length === 0) return commit;
        await commit();
        throw new Error("a mail is being sent");
      });
      const tellAgain = async (minute: number) => {
        if (minute % 10 === 0) for (const event of events) await stripe.deliver(a, event);
      };
      await site.pass(hour, 65, 1, tellAgain);
      hour.expectFired({
        19: [],
        22: ["CodesGuessed", "MailGone"],
        39: ["CodesGuessed", "MailGone"],
        43: ["CodesGuessed", "MailGone", "PurchasesFail"],
        55: ["CodesGuessed", "MailGone", "MailStuck", "PurchasesFail"],
        74: [...(disk ? ["DiskFills"] : []), "MailGone", "MailStuck", "PurchasesFail", "WebhooksAway"],
      });

      await commit();
      await store.close();
      inbox.fault = "none";
      stripe.faultOf = () => "none";
      receiver.recover();
      if (disk) rmSync(join(disk.folder, "large"));
      for (const event of events) expect((await stripe.deliver(a, event)).status).toBe(200);
      await eventually(() => expect(inbox.received.map(({ to }) => to)).toContain("newcomer@example.com"));
      // A webhook's delivery that failed for so long is tried every half hour.
      await site.pass(hour, 45, 1);
      hour.expectFired({ 119: [] });
      await b.admin("webhook", "remove", webhook.id);
      await receiver.stop();

      const rotated = new Recording();
      await site.pass(rotated, 10, 1);
      const [event = {}] = events;
      await site.pass(
        rotated,
        30,
        10,
        async () => void (await stripe.deliver(b, event, { signedWith: "whsec_new" })),
      );
      rotated.expectFired({
        24: [],
        29: ["DeliveriesRefused"],
      });
    });

    it("wake people for what did not happen for a day, each in its time", patient, async () => {
      const days = new Recording(300);
      await b.adminJson("backup", join(createFolder(), "office.backup"));
      const email = "buyer@example.com";
      const { id } = await b.adminJson<{ id: string }>("account", "add", email);
      const browser = await site.signIn(email);
      sessionIn(await browser.submit("/home/checkout", { account: id, licence: "price_month" }));
      // Nothing that Stripe sends arrives, and nothing is answered.
      stripe.faultOf = () => "500";
      for (let hour = 0; hour < 40; hour++) {
        await site.renewToken();
        await record(days, 60, async () => {
          clock.pass(hourMs);
          await liveAMinute();
          await site.sendDueMail();
        });
      }
      const at = (hours: number) => hours * 60;
      days.expectFired({
        [at(18)]: [],
        [at(27)]: ["CheckoutUnsettled", "SunsetNear"],
        [at(36)]: ["CheckoutUnsettled", "SunsetNear"],
        [at(39)]: ["BackupOld", "CheckoutUnsettled", "SunsetNear"],
      });
    });

    it("wake people for a store and counters that are gone", patient, async () => {
      const before = ["CheckoutUnsettled", "SunsetNear"];
      await site.renewToken();
      const countersAway = new Recording();
      await record(countersAway, 10);
      await stopDatabase(redis);
      await record(countersAway, 20);
      countersAway.expectFired({
        19: before,
        22: [...before, "CountersAway"],
      });

      const storeGone = new Recording();
      await record(storeGone, 10);
      pair.end();
      await record(storeGone, 15);
      storeGone.expectFired({
        13: ["CountersAway", "StoreGone", "SunsetNear"],
        17: ["AnswersFail", "CountersAway", "StoreGone", "SunsetNear"],
      });
      await site.stop();
    });
  },
);
