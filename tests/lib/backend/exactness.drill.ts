import { randomInt, randomUUID } from "node:crypto";
import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { faults, type Pair } from "@/tests/failover/pair";
import { startPlainPair } from "@/tests/failover/plain-pair";
import { AccountModel, type Answered, type Asked, type Listed, type Span } from "@/tests/lib/backend/model";
import { BackendCaller, withBackendApi } from "@/tests/support/backend-caller";
import { startService } from "@/tests/support/block";
import { besideDatabaseUrl } from "@/tests/support/databases";
import { type Engine, engines } from "@/tests/support/engines";
import { createFolder } from "@/tests/support/leash";
import type { Environment, Service } from "@/tests/support/service";

/** The operations of an engine, at least, and of every fault four. */
const operations = Number(process.env.EXACTNESS ?? 10_000);
const accounts = operations > 100_000 ? 64 : 16;
const given = 50_000; // thousandths
const maxStepMs = 2000;

/** A store, and what is done to it. */
type Ground = { environment: Environment; strike: (round: number) => Promise<unknown> };

async function prepare(engine: Engine): Promise<Ground> {
  const stage = await engine.prepare();
  if (!stage.freezeStopsReads) {
    const strike = async () => {
      stage.freeze();
      await sleep(500);
      stage.thaw();
    };
    return { environment: stage.environment, strike };
  }
  await stage.clear();
  const pair = (await startPlainPair({ isSynchronous: true })) as Pair;
  // A primary that thaws while its successor runs takes writes too, and then nothing is promised.
  const known = faults.filter((fault) => pair.faults.includes(fault) && fault !== "thaw");
  const environment = { ...besideDatabaseUrl, DATABASE_URL: pair.url, SIGN_IN: "local" };
  const strike = async (round: number) => {
    const { release, restore } = await pair.strike(known[round % known.length] ?? "kill");
    await release();
    await restore();
  };
  return { environment, strike };
}

/** The wall clocks of instances, of which each can be set. */
class Clocks {
  /** From when on they were ahead by these. */
  private readonly steps = [{ atMs: 0, aheadMs: [0, 0, 0] }];
  private readonly files = [1, 2, 3].map((at) => join(createFolder(), `clock-${at}`));

  constructor() {
    for (const [at] of this.files.entries()) this.write(at, 0);
  }

  environmentOf(at: number): Environment {
    return {
      NODE_OPTIONS: "--import ./tests/faults/wall-clock.mjs",
      TEST_WALL_CLOCK: this.files[at] as string,
    };
  }

  step(): void {
    const aheadMs = [...(this.steps.at(-1)?.aheadMs ?? [])];
    const at = randomInt(aheadMs.length);
    aheadMs[at] = randomInt(-maxStepMs, maxStepMs);
    // In between, any of both.
    const since = { atMs: Date.now(), aheadMs: [...aheadMs, this.steps.at(-1)?.aheadMs[at] ?? 0] };
    this.steps.push(since);
    this.write(at, aheadMs[at] ?? 0);
    this.steps.push({ atMs: Date.now(), aheadMs });
  }

  /** The earliest and the latest time of any instance since an instant. */
  since(fromMs: number): Span {
    const toMs = Date.now();
    const first = this.steps.findLastIndex(({ atMs }) => atMs < fromMs);
    const ahead = this.steps.slice(Math.max(first, 0)).flatMap(({ aheadMs }) => aheadMs);
    return { fromMs: fromMs + Math.min(...ahead), toMs: toMs + Math.max(...ahead) };
  }

  private write(at: number, aheadMs: number): void {
    const file = this.files[at] as string;
    writeFileSync(`${file}.new`, String(aheadMs));
    renameSync(`${file}.new`, file);
  }
}

describe.each(engines)("three instances on $name", async (engine) => {
  const { environment, strike } = await prepare(engine);
  const clocks = new Clocks();
  const services: Service[] = [];
  for (const at of [0, 1, 2]) {
    const settings = { ...environment, ...clocks.environmentOf(at), BACKEND_URL: "http://localhost:9" };
    services.push(await startService(await withBackendApi(settings), { expectErrors: true }));
  }
  const [first] = services as [Service];
  const added = await BackendCaller.add(first, "worker");
  const callers = services.map((service) => new BackendCaller(service, "worker", added.privateKey));
  const addAccount = (email: string, credits: string) =>
    first.adminJson<{ id: string }>("account", "add", email, "--credits", credits);

  /** Sends a request to one of the instances: `undefined` if it was not answered, was refused for now, or was sent too late. */
  const sendOnce = async (path: string, body: object, key: string) => {
    const caller = callers[randomInt(callers.length)] as BackendCaller;
    const answer = await caller.post(path, body, key).catch(() => undefined);
    return answer && ![401, 408, 429, 503].includes(answer.status) ? answer : undefined;
  };
  /** Sends it until it is answered, as a client does, and now and then to two instances at once. */
  const send = async (path: string, body: object, key: string) => {
    for (;;) {
      const times = randomInt(6) === 0 ? 2 : 1;
      const answers = await Promise.all(Array.from({ length: times }, () => sendOnce(path, body, key)));
      const [done, other] = answers.filter((answer) => answer?.status === 200);
      if (done && other) expect(other.text).toBe(done.text);
      const answer = done ?? answers[0];
      if (answer) return answer;
      await sleep(50);
    }
  };
  const read = async (path: string) => {
    for (;;) {
      const answer = await added.get(path).catch(() => undefined);
      if (answer?.status === 200) return JSON.parse(answer.text);
      await sleep(50);
    }
  };
  const readEntries = async (path: string): Promise<Listed[]> => {
    const all: Listed[] = [];
    for (let after = ""; ; ) {
      const { entries, next } = await read(`${path}?limit=1000${after}`);
      all.push(...entries);
      if (entries.length < 1000) return all;
      after = `&after=${next}`;
    }
  };

  it("spend one credit once, of a thousand that ask at once", async () => {
    const { id } = await addAccount("one@example.com", "1");
    const ask = (at: number) =>
      send(`/v1/accounts/${id}/spends`, { credits: 1, reason: "A page" }, `one-${at}`);
    const answers = await Promise.all(Array.from({ length: 1000 }, (_, at) => ask(at)));
    const count = (status: number) => answers.filter((answer) => answer.status === status).length;
    expect([count(200), count(409)]).toEqual([1, 999]);
  });

  it("agree with the model to the thousandth, through kills, outages, clock steps and repetitions", {
    timeout: 4 * 3_600_000,
  }, async () => {
    let asked = 0;
    const done = { kill: 0, strike: 0, step: 0 };
    let isOver = false;
    const isEnough = () => asked >= operations && Object.values(done).every((times) => times >= 4);
    const written: { path: string; body: object; key: string; text: string }[] = [];

    /** Sends a request until it is answered, mostly again at once, and an earlier one again. */
    const sendAndRepeat = async (path: string, body: object): Promise<Answered> => {
      const key = randomUUID();
      const { status, text } = await send(path, body, key);
      // What was refused wrote nothing, and may have another answer later.
      if (status === 200) {
        const place = randomInt(200);
        const repeated = [{ path, body, key, text }, written[place]];
        written[place] = { path, body, key, text };
        for (const one of repeated)
          if (one && randomInt(2) > 0) {
            const again = await sendOnce(one.path, one.body, one.key);
            if (again) expect(`${again.status} ${again.text}`).toBe(`200 ${one.text}`);
          }
      }
      return { status, body: JSON.parse(text) };
    };

    const driving: { id: string; model: AccountModel }[] = [];
    for (let at = 0; at < accounts; at++) {
      const { id } = await addAccount(`model-${randomUUID()}@example.com`, String(given / 1000));
      driving.push({ id, model: new AccountModel(given) });
    }
    const drive = async ({ id, model }: (typeof driving)[number]) => {
      const follow = (step: Asked, answered: Answered, span: Span) =>
        expect(
          model.follow(step, answered, span),
          `${JSON.stringify(step)} ${JSON.stringify(answered)}`,
        ).toBeUndefined();
      while (!isOver) {
        const fromMs = Date.now();
        if (randomInt(8) === 0) {
          const amounts = Array.from({ length: randomInt(1, 200) }, () => randomInt(1, 100));
          const spends = amounts.map((amount) => ({
            account: id,
            credits: amount / 1000,
            reason: "A minute",
          }));
          const all = randomInt(2) > 0;
          asked += amounts.length;
          const { status, body } = await sendAndRepeat("/v1/batches", { spends, all });
          const span = clocks.since(fromMs);
          const results = (body as unknown as { results?: (Answered["body"] | undefined)[] }).results ?? [];
          const total = amounts.reduce((sum, amount) => sum + amount, 0);
          if (status !== 200) follow({ kind: "batch", thousandths: total }, { status, body }, span);
          else expect(results).toHaveLength(amounts.length);
          for (const [place, result] of results.entries())
            if (result)
              follow(
                { kind: "spend", thousandths: amounts[place] ?? 0 },
                { status: result.error ? 409 : 200, body: result },
                span,
              );
          continue;
        }
        const step = choose(model);
        const [path, body] = toRequest(id, step);
        asked++;
        const answered = await sendAndRepeat(`/v1/${path}`, body);
        follow(step, answered, clocks.since(fromMs));
      }
    };

    const meddling = (async () => {
      for (let round = 0; !isEnough() && !isOver; round++) {
        clocks.step();
        done.step++;
        const victim = services[1 + (round % 2)] as Service;
        await victim.kill();
        await victim.run();
        await victim.ready();
        done.kill++;
        await strike(round);
        done.strike++;
        await sleep(500);
      }
    })().finally(() => {
      isOver = true;
    });
    const working = [...driving.map(drive), meddling];
    try {
      await Promise.all(working);
    } finally {
      // So that a second try begins alone.
      isOver = true;
      await Promise.allSettled(working);
    }

    const all = await readEntries("/v1/entries");
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
    const place = new Map(all.map(({ id }, at) => [id, at]));
    for (const { id, model } of driving) {
      const listed = await readEntries(`/v1/accounts/${id}/entries`);
      expect(model.compare(listed)).toBeUndefined();
      const places = listed.map((entry) => place.get(entry.id) ?? -1);
      expect(places).toEqual(places.toSorted((one, other) => one - other));
      const fromMs = Date.now();
      const { balance } = await read(`/v1/accounts/${id}`);
      expect(model.judge(balance, clocks.since(fromMs))).toBeUndefined();
    }
    process.stdout.write(
      `${engine.name}: ${asked} operations, ${all.length} entries, ${JSON.stringify(done)}\n`,
    );
  });
});

function toRequest(account: string, step: Asked): readonly [path: string, body: object] {
  const credits = "thousandths" in step ? String(step.thousandths / 1000) : undefined;
  switch (step.kind) {
    case "hold":
      return [`accounts/${account}/holds`, { credits, reason: "A film", expiresInSeconds: randomInt(1, 5) }];
    case "settle":
      return [`holds/${step.hold}/settle`, { credits }];
    case "release":
      return [`holds/${step.hold}/release`, {}];
    case "reverse":
      return [`entries/${step.entry}/reverse`, { credits, reason: "It failed" }];
    default:
      return [`accounts/${account}/spends`, { credits, reason: "A page" }];
  }
}

/** A step that may be refused: of amounts that are there, and some that are not. */
function choose(model: AccountModel): Asked {
  const [least] = model.spendable(Date.now());
  const thousandths = randomInt(1, Math.max(2, randomInt(5) === 0 ? 2 * given : least));
  const holds = [...model.holds.keys()];
  const hold = holds[randomInt(Math.max(1, holds.length))];
  const spent = [...model.entries].slice(-200).filter(([, { left }]) => left > 0);
  const [entry = "", { left } = { left: 0 }] = spent[randomInt(Math.max(1, spent.length))] ?? [];
  const kind = randomInt(10);
  if (entry && (kind === 0 || least < given / 10))
    return { kind: "reverse", entry, thousandths: randomInt(1, randomInt(4) === 0 ? left + 2 : left + 1) };
  if (kind < 4) return { kind: "spend", thousandths };
  if (kind < 7 || !hold) return { kind: "hold", thousandths };
  return kind < 9
    ? { kind: "settle", hold, thousandths: randomInt(0, given / 4) }
    : { kind: "release", hold };
}
