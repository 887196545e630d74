import { readdirSync, readFileSync } from "node:fs";
import { inspect } from "node:util";
import fc from "fast-check";
import { Redis } from "ioredis";
import { afterAll, describe, expect, inject, it } from "vitest";
import { deleteExpired } from "@/lib/accounts/leaving/retention";
import { sweepCodes } from "@/lib/auth/codes/sign-in-code-limits";
import { script as proofScript } from "@/lib/auth/tokens/proof-memory";
import type { Db } from "@/lib/db/store";
import { sweepEvents } from "@/lib/events/event-sweep";
import { Turns } from "@/lib/http/turns";
import { sweepState } from "@/lib/oauth/sweep";
import { exactRatelimit } from "@/lib/rate-limit/exact-window";
import { recordOutages } from "@/lib/status/outages";
import { anyRow } from "@/tests/support/any-row";
import { startStage } from "@/tests/support/block";
import { openStore } from "@/tests/support/counter-stores";
import { everyEngine } from "@/tests/support/engines";
import { over } from "@/tests/support/expiry";

/*
 * What expires, expires: rows, by the list of tests/support/expiry.ts, keys in Redis, and what a process keeps in memory, by the
 * list below. What is new has to say there when it does.
 */

const nowMs = Date.now(); // as the store, which writes events by its own clock
describe.each(everyEngine)("rows on $name", async (engine) => {
  const stage = await startStage(engine, { conflicts: false });
  Object.assign(process.env, stage.environment, { LOG_LEVEL: "error" });
  const db = await stage.open();
  it("that are over are deleted by the next rounds, and the others stay", async () => {
    for (const table of ["accounts", "webhooks", "operators"]) await anyRow(stage, table, { id: "parent" });
    const rows = over.flatMap(({ table, kind }, n) =>
      (["old", "young"] as const).map((age, place) => ({ table, kind, age, number: 2 * n + place })),
    );
    for (const { table, kind, age, number } of rows) {
      const { at, afterMs = () => 0, as = {}, named } = kind;
      // The events of an account have counted what it has.
      if (table === "event_counters") continue;
      const untilMs = nowMs - afterMs() + (age === "old" ? -1 : 60_000);
      const name = `${age} ${number}`;
      const row = { ...as, ...("seq" in as && { seq: number + 1 }), [at]: untilMs };
      await anyRow(stage, table, { ...row, ...(named && { [named]: name }) }, name);
    }
    await doRounds(db);
    const left = new Map<string, string[]>();
    for (const { table } of over)
      left.set(
        table,
        (await stage.query(`SELECT * FROM ${table}`)).map((row) => JSON.stringify(row)),
      );
    for (const { table, kind, age, number } of rows) {
      const name = table === "event_counters" ? `"${age} ` : `"${age} ${number}"`;
      const isLeft = left.get(table)?.some((row) => row.includes(name));
      expect(isLeft, `${table} by ${kind.at} ${JSON.stringify(kind.as ?? {})}: ${age}`).toBe(age === "young");
    }
  });
});

/** What the service does by itself, again and again. */
async function doRounds(db: Db): Promise<void> {
  for (const round of [sweepCodes, sweepEvents, deleteExpired, sweepState]) await round(db, nowMs);
  await recordOutages(async () => db, [], new Map(), nowMs);
}

/**
 * What outlives a call: each place that makes a collection, and what bounds it. Those of `RecentCache` are bounded by
 * themselves.
 */
const collections: { [file: string]: string[] } = {
  "lib/accounts/terms/gift-ends.ts": ["1,000, beyond which all are tried again"],
  "lib/auth/keys/key-ring.ts": ["the keys of the store", "those that this process has opened"],
  "lib/auth/passkeys/passkey-ceremony.ts": ["empty"],
  "lib/auth/sessions/session-use.ts": ["as many checks as are remembered, for a second"],
  "lib/auth/tokens/proof-memory.ts": [
    "owners with proofs of the last minutes, of which `proofBounds` allows so many in all",
  ],
  "lib/backend/credit-rules.ts": [
    "one transaction",
    "the same",
    "the same",
    "the same",
    "the same",
    "the same",
  ],
  "lib/backend/write-queue.ts": ["backends whose writes wait"],
  "lib/config/time-zone.ts": ["the zones that Node knows, by their canonical names"],
  "lib/db/frequent-statement.ts": ["two statements for each `frequentStatement`"],
  "lib/db/postgres/pool.ts": ["those that wait for a connection"],
  "lib/db/sqlite/file.ts": ["500 statements, then none"],
  "lib/events/delivery-runner.ts": [
    "accounts whose events wait: as many as are read ahead",
    "accounts of which more waits in the store: as many as have it",
    "accounts whose event is being sent",
    "until the next round notes them",
    "accounts, until one is accepted or the receiver is taken to be away",
  ],
  "lib/events/delivery.ts": ["the webhooks of the store"],
  "lib/http/call.ts": ["one request", "one request"],
  "lib/http/default-headers.ts": ["the routes"],
  "lib/http/hook-deliveries.ts": ["for each webhook of a provider, the reasons"],
  "lib/http/rounds.ts": [
    "networks whose requests wait",
    "the same",
    "requests that ended in this turn of the loop",
  ],
  "lib/http/turns.ts": ["those who run, wait or rest: see below", "those who wait"],
  "lib/oauth/client-metadata-document.ts": ["the hosts of CONNECT_CLIENTS"],
  "lib/plans/plan.ts": ["the plans of the store"],
  "lib/per-process.ts": ["our names"],
  "lib/rate-limit/client-address.ts": ["20,000 clients, then none", "their networks", "both, begun anew"],
  "lib/rate-limit/local-counter.ts": ["the limits", "`maxCounterBytes`", "`maxCounterBytes`", "begun anew"],
  "lib/rate-limit/rate-limit.ts": ["the seconds of a window", "the quotas", "the limits"],
  "lib/rate-limit/shared-counter.ts": ["requests that wait for the store, for as long as its deadline"],
  "lib/runtime/dependency-outages.ts": ["what we depend on"],
  "lib/runtime/readiness.ts": ["our reasons"],
  "lib/runtime/recent-cache.ts": ["half of its bound", "the other half", "begun anew"],
  "lib/server/cached-response.ts": ["the encodings"],
  "lib/server/connections.ts": [
    "`maxConnections`",
    "their networks",
    "as many as one network has",
    "the same",
  ],
  "lib/server/page-cache.ts": ["pages that are being made"],
  "lib/server/requests-in-work.ts": ["networks with a request in work"],
  "lib/status/parts.ts": ["the parts"],
};

it("each collection that a process keeps has a bound", () => {
  const found: { [file: string]: string[] } = {};
  for (const folder of ["lib", "app"])
    for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" }).filter(isKept)) {
      const file = `${folder}/${name}`;
      const lines = readFileSync(file, "utf8").split("\n").filter(isCollection);
      if (lines.length > 0) found[file] = lines;
    }
  const counted = (all: { [file: string]: string[] }) =>
    Object.entries(all)
      .map(([file, each]) => `${file}: ${each.length}`)
      .sort();
  expect(counted(found), JSON.stringify(found, null, 1)).toEqual(counted(collections));
});

/** Not what runs in a browser, or at a reader's. */
const isKept = (name: string) => /\.tsx?$/.test(name) && !/browser\/|docs\/(clients|documents)\//.test(name);

const isCollection = (line: string) =>
  !/^ +(const|let|return|if) /.test(line) &&
  (/new (Map|Set)(<.*>)?\(\)/.test(line) ||
    /^( {2}(private )?(readonly )?|const |let )\w+: .*\[\] = \[\];/.test(line));

it("turns keep nothing of those who had none: who left, and who was refused", async () => {
  const bounds = { atOnce: 1, atOnceOfKnown: 1, atOnceOfNetwork: 1, waiting: 3, waitMs: 60_000 };
  const turns = new Turns(bounds);
  const { promise, resolve: end } = Promise.withResolvers<void>();
  const ask = (network: string, signal: AbortSignal) =>
    turns.run({ known: "strangers", network, client: network }, signal, () => promise);
  const leaving = new AbortController();
  const all = ["first", "left", "also", "refused", "too"].map((name) => ask(name, leaving.signal));
  leaving.abort();
  end();
  await Promise.allSettled(all);
  expect(inspect(turns, { depth: null })).toBe(inspect(new Turns(bounds), { depth: null }));
});

describe.runIf(inject("redisPort"))("keys in Redis", () => {
  const redis = new Redis({ port: inject("redisPort") ?? 0, host: "127.0.0.1" });
  const store = openStore({
    REDIS_URL: `redis://127.0.0.1:${redis.options.port}/0`,
    APP_SECRET: "s".repeat(32),
  });
  afterAll(() => redis.disconnect());

  it("expire, whatever the clock did meanwhile", async () => {
    let atMs = 0;
    let schedules = 0;
    const step = fc.record({
      passMs: fc.integer({ min: -120_000, max: 120_000 }),
      times: fc.integer({ min: 1, max: 3 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
        atMs = 1_900_000_000_000;
        const [name, key] = ["expiry", `{${schedules++}}`];
        const limiter = exactRatelimit(store, { name, limit: 2, windowMs: 60_000, clock: () => atMs });
        for (const { passMs, times } of steps) {
          atMs += passMs;
          for (let n = 0; n < times; n++) await limiter.limit(key);
          const leftMs = await redis.pttl(`corner-office:${name}:${key}`);
          expect(leftMs).toBeGreaterThan(0);
          expect(leftMs).toBeLessThanOrEqual(60_000);
        }
      }),
      { numRuns: 30 },
    );
    const [seconds = 0] = (await redis.time()).map(Number);
    for (const [id, at, said] of [
      ["one", seconds, "new"],
      ["one", seconds, "seen"],
      ["other", seconds - 1000, "old"],
      ["two", seconds, "new"],
      ["three", seconds, "new"],
    ] as const) {
      expect(await store.eval(proofScript, ["expiry:{proofs}"], [id, at, 300, 2])).toBe(said);
      expect(await redis.ttl("expiry:{proofs}")).toBeGreaterThan(0);
    }
  });
});
