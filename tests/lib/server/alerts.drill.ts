import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import {
  createDatabase,
  eventually,
  isInstalled,
  signalPostgres,
  startPostgres,
  startRedis,
  stopDatabase,
} from "@/tests/support/databases";
import { createFolder } from "@/tests/support/leash";
import { reservePort } from "@/tests/support/port";
import { Service, sendTo } from "@/tests/support/service";

type Scrape = ReadonlyMap<string, number>;

/** The values of each series, one a minute; `undefined` where it was not scraped. */
class Recording {
  private readonly series = new Map<string, (number | undefined)[]>();
  private minutes = 0;
  private last: Scrape = new Map();

  /** Adds minutes in each of which happens what happened between two scrapes: counters grow, and the rest stays. */
  add(minutes: number, before: Scrape, after: Scrape): void {
    for (let minute = 0; minute < minutes; minute++) {
      const now = new Map<string, number>();
      for (const [name, value] of after) {
        const grown = value - (before.get(name) ?? 0);
        now.set(name, isCounter(name) ? (this.last.get(name) ?? 0) + grown : value);
      }
      for (const [name, value] of now) {
        const values = this.series.get(name) ?? [];
        values[this.minutes] = value;
        this.series.set(name, values);
      }
      this.last = now;
      this.minutes++;
    }
  }

  /** As a restart does. */
  forget(instance: string): void {
    this.last = new Map([...this.last].filter(([name]) => !name.includes(`instance="${instance}"`)));
  }

  /** What Prometheus' own tool makes of it: the alerts that fired within the minutes before `atMinute`. */
  expectFired(atMinute: number, withinMinutes: number, alerts: string[]): void {
    const input = [...this.series].map(([series, values]) => ({
      series,
      values: Array.from({ length: this.minutes }, (_, at) => values[at] ?? "_").join(" "),
    }));
    // How many queries of background work fail in a minute depends on how long it really took.
    const firing = `ALERTS{alertstate="firing", alertname!="${alerts.length > 0 ? "StoreFails" : ""}"}`;
    const expr = `sum by (alertname) (last_over_time(${firing}[${withinMinutes}m])) ^ 0`;
    const expected = alerts.map((name) => ({ labels: `{alertname="${name}"}`, value: 1 }));
    const file = join(createFolder(), "recorded.yml"); // JSON is YAML
    const test = {
      interval: "1m",
      input_series: input,
      promql_expr_test: [{ expr, eval_time: `${atMinute}m`, exp_samples: expected }],
    };
    const rules = [resolve("lib/server/watching/alerts.yml")];
    writeFileSync(file, JSON.stringify({ rule_files: rules, evaluation_interval: "1m", tests: [test] }));
    execFileSync("promtool", ["test", "rules", file], { encoding: "utf8", stdio: "pipe" });
  }
}

const isCounter = (name: string) => /_(?:total|count|sum)\b/.test(name.split("{")[0] ?? "");

describe.runIf(isInstalled("promtool"))("two instances of a quiet site, with a balancer's polls", () => {
  it("wake people for what is real, in its time, and for nothing in an hour of ordinary trouble", {
    timeout: 300_000,
  }, async () => {
    const postgres = await startPostgres();
    const redis = await startRedis();
    if (!postgres || !redis) throw new Error("PostgreSQL and Redis are needed");
    const common = {
      DATABASE_URL: await createDatabase(postgres.url),
      REDIS_URL: `redis://127.0.0.1:${redis.port}`,
      APP_URL: "http://localhost:3000",
      APP_SECRET: "s".repeat(43),
      SIGN_IN: "local",
    };
    const start = async () => {
      const METRICS_PORT = String(await reservePort());
      const service = await Service.start({ ...common, METRICS_PORT });
      await service.ready();
      return service;
    };
    const instances = { a: await start(), b: await start() };
    await instances.a.adminJson("account", "add", "ceo@example.com");
    const token = await instances.a.token("ceo@example.com");

    /** Six requests of users and sixty polls a minute, as far as an instance answers. */
    const liveAMinute = async () => {
      for (const service of Object.values(instances)) {
        for (let poll = 0; poll < 60; poll++) await service.ask("/ready").catch(() => {});
        for (let request = 0; request < 3; request++)
          await service
            .ask("/api/entitlement", { headers: { authorization: `Bearer ${token}` } })
            .catch(() => {});
      }
    };
    const scrape = async (): Promise<Scrape> => {
      const found = new Map<string, number>();
      for (const [name, { environment }] of Object.entries(instances)) {
        const labels = `job="corner-office",instance="${name}"`;
        const answer = await sendTo(Number(environment.METRICS_PORT), "/metrics", {}).catch(() => undefined);
        found.set(`up{${labels}}`, answer ? 1 : 0);
        for (const [, series = "", own, value] of answer?.text.matchAll(/^(\w+)(?:\{(.*)\})? (\S+)$/gm) ?? [])
          if (!series.endsWith("_bucket"))
            found.set(`${series}{${own ? `${own},` : ""}${labels}}`, Number(value));
      }
      return found;
    };
    const record = async (recording: Recording, minutes: number, happens = liveAMinute) => {
      const before = await scrape();
      await happens();
      recording.add(minutes, before, await scrape());
    };

    const quiet = new Recording();
    await record(quiet, 10);
    const flood = async () => {
      for (let request = 0; request < 300; request++)
        await instances.b.ask("/api/health", { from: "127.0.9.1" });
      await liveAMinute();
    };
    await record(quiet, 5, flood);
    signalPostgres(postgres.child.pid, "SIGSTOP");
    await record(quiet, 1);
    signalPostgres(postgres.child.pid, "SIGCONT");
    await eventually(async () => expect(await instances.a.statusFor(token)).toBe(200));
    await record(quiet, 10);
    await instances.a.stop({ expectErrors: true });
    await record(quiet, 1);
    await instances.a.run();
    await instances.a.ready();
    quiet.forget("a");
    await record(quiet, 33);
    quiet.expectFired(60, 60, []);

    const instanceGone = new Recording();
    await record(instanceGone, 10);
    await instances.a.kill();
    await record(instanceGone, 10);
    instanceGone.expectFired(14, 1, ["InstanceGone"]);
    await instances.a.run();
    await instances.a.ready();

    const countersAway = new Recording();
    await record(countersAway, 10);
    await stopDatabase(redis);
    await record(countersAway, 20);
    countersAway.expectFired(25, 1, ["CountersAway"]);

    const storeGone = new Recording();
    await record(storeGone, 10);
    await stopDatabase(postgres);
    await record(storeGone, 15);
    storeGone.expectFired(14, 1, ["CountersAway", "StoreGone"]);
    storeGone.expectFired(23, 1, ["AnswersFail", "CountersAway", "StoreGone"]);
    for (const service of Object.values(instances)) await service.stop({ expectErrors: true });
  });
});
