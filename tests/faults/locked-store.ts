import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { Browser } from "@/tests/support/browser";
import { besideDatabaseUrl } from "@/tests/support/databases";
import { Service } from "@/tests/support/service";
import type { Experiment } from "./experiment";

const heldMs = 8000;
const atOnce = 20;

/** Another program holds the lock that our writes need, while people join the waitlist. */
export const lockedStore: Experiment = {
  name: "locked-store",
  async run(see, world) {
    const embedded = await Service.start({ SIGN_IN: "local", TRUSTED_PROXY_HOPS: "1" }, { logTo: "file" });
    await joinAs(embedded, "first");
    const file = new DatabaseSync(join(embedded.dataDir, "store.sqlite"));
    file.exec("BEGIN IMMEDIATE");
    const slowestMs = await slowestOf(embedded, "waiting");
    see({
      what: `a foreign write lock, ${atOnce} joins at once`,
      figure: `the last is told after ${slowestMs} ms (under 4000)`,
      holds: slowestMs < 4000,
    });
    file.exec("COMMIT");
    file.close();
    see(await mended(embedded));
    await embedded.kill();

    const databaseUrl = await world.createDatabase();
    const environment = {
      ...besideDatabaseUrl,
      DATABASE_URL: databaseUrl,
      SIGN_IN: "local",
      TRUSTED_PROXY_HOPS: "1",
    };
    const service = await Service.start(environment, { logTo: "file" });
    await joinAs(service, "first");
    const [other, watcher] = [new pg.Client(databaseUrl), new pg.Client(databaseUrl)];
    await Promise.all([other.connect(), watcher.connect()]);
    await other.query("BEGIN; LOCK TABLE waitlist IN ACCESS EXCLUSIVE MODE");
    const otherPid = (other as unknown as { processID: number }).processID;
    const count = async (condition: string) => {
      const { rows } = await watcher.query(
        `SELECT count(*)::int AS n FROM pg_stat_activity
         WHERE datname = current_database() AND pid NOT IN (pg_backend_pid(), ${otherPid}) AND ${condition}`,
      );
      return Number(rows[0]?.n);
    };
    let most = 0;
    const untilMs = performance.now() + heldMs;
    while (performance.now() < untilMs) {
      const slowest = slowestOf(service, `locked${Math.round(untilMs - performance.now())}`);
      await sleep(500);
      most = Math.max(most, await count("true"));
      await slowest;
    }
    see({
      what: "PostgreSQL, a locked table",
      figure: `${most} connections (10 at most)`,
      holds: most <= 10,
    });
    await sleep(500);
    const stuck = await count("state <> 'idle'");
    see({ what: "connections still at work", figure: `${stuck} (0)`, holds: stuck === 0 });
    await other.query("COMMIT");
    await Promise.all([other.end(), watcher.end()]);
    see(await mended(service));
    await service.kill();
  },
};

/** Each join has a new client address, so that rate limits do not apply. */
function joinAs(service: Service, name: string) {
  return new Browser(service).submit("/waitlist/join", { email: `${name}@example.com` });
}

async function slowestOf(service: Service, name: string): Promise<number> {
  const askedAtMs = performance.now();
  await Promise.all(Array.from({ length: atOnce }, (_, n) => joinAs(service, `${name}-${n}`)));
  return Math.round(performance.now() - askedAtMs);
}

async function mended(service: Service) {
  const { headers } = await joinAs(service, "after");
  const location = String(headers.location);
  return { what: "a join afterwards", figure: `goes to ${location}`, holds: !location.includes("problem") };
}
