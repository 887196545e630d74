import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { startStage } from "@/tests/support/block";
import { eventually } from "@/tests/support/databases";
import { engines } from "@/tests/support/engines";
import { EventReceiver, findFaults, type Received } from "@/tests/support/event-receiver";
import { reservePort } from "@/tests/support/port";
import { randomFrom } from "@/tests/support/purchases";
import { Service } from "@/tests/support/service";

/** How many events, on each engine. */
const wanted = Number(process.env.EVENTS ?? 3000);
const seed = Number(process.env.SEED ?? 1);

const accounts = 20;
const instances = 3;

describe.each(engines)("events on $name", async (engine) => {
  it(`arrive, all and in order, while servers and the receiver are killed (${wanted})`, {
    timeout: 120_000 + wanted * 40,
  }, async () => {
    const stage = await startStage(engine);
    const random = randomFrom(seed);
    const start = async () => Service.start({ ...stage.environment, PORT: String(await reservePort()) });
    const services = [await start()];
    while (services.length < instances) services.push(await start());
    const [admin] = services as [Service];
    const receiver = await EventReceiver.start();
    const { secret } = await admin.adminJson<{ secret: string }>("webhook", "add", receiver.url);
    receiver.secret = secret;
    for (let n = 0; n < accounts; n++)
      await stage.query(
        `INSERT INTO accounts (id, email, plan, created_at_ms, credit_thousandths) VALUES ('acc_${n}', 'ceo${n}@example.com', 'hobby', 0, 0)`,
      );

    // By hand, as any code does: the store's triggers write the events.
    const counts = new Map(Array.from({ length: accounts }, (_, n) => [`acc_${n}`, 1]));
    let written = accounts;
    const isWriting = (async () => {
      while (written < wanted) {
        const account = `acc_${Math.floor(random() * accounts)}`;
        await stage.query(
          `UPDATE accounts SET credit_thousandths = credit_thousandths + 1 WHERE id = '${account}'`,
        );
        counts.set(account, (counts.get(account) ?? 0) + 1);
        written++;
        await sleep(random() * 8);
      }
    })();

    let kills = 0;
    const faults = ["kill", "kill", "refuse", "hang", "break off"] as const;
    while (written < wanted) {
      await sleep(500 + random() * 1500);
      const fault = faults[Math.floor(random() * faults.length)];
      if (fault === "kill") {
        const at = Math.floor(random() * instances);
        await services[at]?.kill();
        services[at] = await start();
        kills++;
      }
      if (fault === "refuse")
        receiver.respond = (_, response) => response.writeHead(random() < 0.5 ? 500 : 204).end();
      if (fault === "hang")
        receiver.respond = (_, response) => setTimeout(() => response.writeHead(204).end(), 800);
      // It has the event, and its answer is lost.
      if (fault === "break off") receiver.respond = (_, response) => response.destroy();
      await sleep(300 + random() * 700);
      receiver.recover();
    }
    await isWriting;
    const arrived = () => {
      const numbers = new Set(receiver.received.map(({ account, number }) => `${account} ${number}`));
      return numbers.size;
    };
    for (let waits = 0; arrived() < wanted && waits < 240; waits++) await sleep(500);
    // What was refused came too, but was not accepted: only the order of what was accepted first is promised.
    expect(receiver.faults).toEqual([]);
    expect(findFaults(receiver.received, counts)).toEqual([]);
    expect(kills).toBeGreaterThan(0);
    await eventually(async () => {
      const [row] = await admin.adminJson<{ waiting: number; failed: number; state: string }[]>(
        "webhook",
        "list",
      );
      expect(row).toMatchObject({ state: "works", waiting: 0, failed: 0 });
    });
    const repeated = receiver.received.length - wanted;
    process.stdout.write(`${engine.name}: ${wanted} events, ${kills} kills, ${repeated} repetitions\n`);
    for (const service of services) await service.stop();
    await receiver.stop();
  });

  it("arrive within a second at 200 a second, of a hundred", { timeout: 120_000 }, async () => {
    const stage = await startStage(engine);
    const service = await Service.start(stage.environment);
    const receiver = await EventReceiver.start();
    await service.adminJson("webhook", "add", receiver.url);
    for (let n = 0; n < accounts; n++)
      await stage.query(
        `INSERT INTO accounts (id, email, plan, created_at_ms, credit_thousandths) VALUES ('acc_${n}', 'ceo${n}@example.com', 'hobby', 0, 0)`,
      );
    await eventually(() => expect(receiver.received).toHaveLength(accounts));
    const committed = new Map<string, number>();
    const numbers = new Map<string, number>();
    const seconds = Number(process.env.SECONDS ?? 10);
    for (let n = 0; n < 200 * seconds; n++) {
      const account = `acc_${n % accounts}`;
      const dueMs = performance.now() + 5;
      await stage.query(
        `UPDATE accounts SET credit_thousandths = credit_thousandths + 1 WHERE id = '${account}'`,
      );
      const number = (numbers.get(account) ?? 1) + 1;
      numbers.set(account, number);
      committed.set(`${account} ${number}`, Date.now());
      await sleep(Math.max(0, dueMs - performance.now()));
    }
    await eventually(() => expect(receiver.received).toHaveLength(accounts + 200 * seconds));
    const took = (event: Received) =>
      event.atMs - (committed.get(`${event.account} ${event.number}`) ?? event.atMs);
    const sorted = receiver.received
      .slice(accounts)
      .map(took)
      .sort((one, other) => one - other);
    const at = (part: number) => sorted[Math.floor(sorted.length * part)] ?? Number.POSITIVE_INFINITY;
    process.stdout.write(`${engine.name}: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, most ${sorted.at(-1)} ms\n`);
    expect(sorted).toHaveLength(200 * seconds);
    await service.stop();
    await receiver.stop();
  });
});
