import { randomInt, randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { AccountModel, type Answered, type Asked } from "@/tests/lib/backend/model";
import { BackendCaller, withBackendApi } from "@/tests/support/backend-caller";
import { startService, startStage } from "@/tests/support/block";
import { engines } from "@/tests/support/engines";
import type { Service } from "@/tests/support/service";

describe.each(engines)("three instances on $name", async (engine) => {
  const stage = await startStage(engine);
  const sharedUrl = { ...stage.environment, BACKEND_URL: "http://localhost:9" };
  const services: Service[] = [];
  for (const _ of [1, 2, 3])
    services.push(await startService(await withBackendApi(sharedUrl), { expectErrors: true }));
  const [first] = services as [Service];
  const added = await BackendCaller.add(first, "worker");
  const callers = services.map((service) => new BackendCaller(service, "worker", added.privateKey));

  it("spend one credit once, of a thousand that ask at once", async () => {
    const { id } = await first.adminJson<{ id: string }>(
      "account",
      "add",
      "one@example.com",
      "--credits",
      "1",
    );
    const spend = { credits: 1, reason: "A page" };
    const ask = async (at: number) => {
      const path = `/v1/accounts/${id}/spends`;
      for (;;) {
        const answer = await (callers[at % 3] as BackendCaller).post(path, spend, `one-${at}`);
        if (answer.status !== 503) return answer; // on a slow machine, a deadline of the store
      }
    };
    const answers = await Promise.all(Array.from({ length: 1000 }, (_, at) => ask(at)));
    const count = (status: number) => answers.filter((answer) => answer.status === status).length;
    expect([count(200), count(409)]).toEqual([1, 999]);
  });

  it("agree with the model to the thousandth, through kills, lost answers and repetitions", {
    timeout: 180_000,
  }, async () => {
    const untilMs = Date.now() + 30_000;
    let asked = 0;
    let repeated = 0;
    /** Sends a request until it is answered, mostly twice, and sometimes to two instances at once. */
    const send = async (path: string, body: object): Promise<Answered> => {
      const key = randomUUID();
      const once = () =>
        (callers[randomInt(3)] as BackendCaller)
          .post(path, body, key)
          .catch(() => ({ status: 0, text: "{}" }));
      asked++;
      let answer = await once();
      for (; answer.status === 0 || answer.status === 503; answer = await once()) {
        repeated++;
        await sleep(50);
      }
      // What was refused wrote nothing, and may have another answer later.
      if (answer.status === 200 && randomInt(3) > 0)
        for (const again of await Promise.all([once(), once()]))
          if (again.status === 200) expect(again.text).toBe(answer.text);
          else expect([0, 503]).toContain(again.status);
      return { status: answer.status, body: JSON.parse(answer.text) };
    };
    const drive = async (at: number) => {
      const email = `model${at}@example.com`;
      const { id } = await first.adminJson<{ id: string }>("account", "add", email, "--credits", "50");
      const model = new AccountModel(50_000);
      while (Date.now() < untilMs) {
        const step = choose(model);
        const credits = "thousandths" in step ? String(step.thousandths / 1000) : undefined;
        const [path, body] = {
          spend: () => [`accounts/${id}/spends`, { credits, reason: "A page" }] as const,
          hold: () =>
            [
              `accounts/${id}/holds`,
              { credits, reason: "A film", expiresInSeconds: randomInt(1, 5) },
            ] as const,
          settle: () => [`holds/${"hold" in step && step.hold}/settle`, { credits }] as const,
          release: () => [`holds/${"hold" in step && step.hold}/release`, {}] as const,
          reverse: () =>
            [`entries/${"entry" in step && step.entry}/reverse`, { credits, reason: "It failed" }] as const,
        }[step.kind]();
        const fromMs = Date.now();
        const answered = await send(`/v1/${path}`, body);
        const wrong = model.follow(step, answered, fromMs, Date.now());
        expect(wrong, `${JSON.stringify(step)} ${JSON.stringify(answered)}`).toBeUndefined();
      }
      return { id, model };
    };
    const killing = (async () => {
      for (let at = 1; Date.now() < untilMs - 5000; at++) {
        await sleep(4000);
        const victim = services[1 + (at % 2)] as Service;
        await victim.kill();
        await victim.run();
        await victim.ready();
      }
    })();
    const driven = await Promise.all(Array.from({ length: 8 }, (_, at) => drive(at)));
    await killing;
    const all: string[] = [];
    for (let after = ""; ; ) {
      const { entries, next } = JSON.parse((await added.get(`/v1/entries?limit=500${after}`)).text);
      all.push(...entries.map(({ id }: { id: string }) => id));
      if (entries.length < 500) break;
      after = `&after=${next}`;
    }
    expect(new Set(all).size).toBe(all.length);
    for (const { id, model } of driven) {
      const ids: string[] = [];
      let sum = 0;
      for (let after = ""; ; ) {
        const { entries, next } = JSON.parse(
          (await added.get(`/v1/accounts/${id}/entries?limit=500${after}`)).text,
        );
        for (const { id, credits } of entries) {
          ids.push(id);
          sum += Math.round(credits * 1000);
          expect(sum).toBeGreaterThanOrEqual(0);
        }
        if (entries.length < 500) break;
        after = `&after=${next}`;
      }
      expect(ids.slice(1).sort()).toEqual(
        model.entries
          .slice(1)
          .map(({ id }) => id)
          .sort(),
      );
      expect(all.filter((entry) => ids.includes(entry))).toEqual(ids);
      const fromMs = Date.now();
      const { balance } = JSON.parse((await added.get(`/v1/accounts/${id}`)).text);
      expect(model.judge(balance, fromMs, Date.now())).toBeUndefined();
    }
    expect(asked).toBeGreaterThan(100);
    expect(repeated).toBeGreaterThan(0);
  });

  /** A step that may be refused: of amounts that are there, and some that are not. */
  function choose(model: AccountModel): Asked {
    const thousandths = randomInt(1, 12_000);
    const hold = [...model.holds.keys()][0];
    const spent = model.entries.filter(({ left }) => left > 0);
    const kind = randomInt(10);
    if (kind < 3) return { kind: "spend", thousandths };
    if (kind < 5 || !hold) return spent.length === 0 || kind < 5 ? { kind: "hold", thousandths } : reverse();
    if (kind < 7) return { kind: "settle", hold, thousandths: randomInt(0, 12_000) };
    return kind < 8 || spent.length === 0 ? { kind: "release", hold } : reverse();

    function reverse(): Asked {
      const entry = spent[randomInt(spent.length)];
      return { kind: "reverse", entry: entry?.id ?? "", thousandths: randomInt(1, (entry?.left ?? 1) + 2) };
    }
  }
});
