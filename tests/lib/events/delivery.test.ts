import { randomBytes } from "node:crypto";
import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { DeliveryRunner, leaseHolder } from "@/lib/events/delivery-runner";
import { listWebhooks, startAgain } from "@/lib/events/webhooks";
import { startService, startStage } from "@/tests/support/block";
import { makeClock } from "@/tests/support/clock";
import { eventually } from "@/tests/support/databases";
import { engines } from "@/tests/support/engines";
import { EventReceiver } from "@/tests/support/event-receiver";
import { Service } from "@/tests/support/service";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

describe.each(engines)("events on their way on $name", async (engine) => {
  const stage = await startStage(engine);
  const clock = makeClock();
  const environment = { ...stage.environment, ...clock.environment };
  const first = await startService(environment);

  let people = 0;
  async function addAccount() {
    const email = `ceo${people++}@example.com`;
    const { id } = await first.adminJson<{ id: string }>("account", "add", email, "--plan", "hobby");
    return { id, email };
  }
  const add = (email: string, credits: number) => first.admin("credits", "add", email, String(credits));
  async function receive() {
    const receiver = await EventReceiver.start();
    const { id } = await first.adminJson<{ id: string }>("webhook", "add", receiver.url);
    const find = async () => {
      const all = await first.adminJson<{ id: string; waiting: number }[]>("webhook", "list");
      return all.find((one) => one.id === id);
    };
    const numbersOf = (account: string) =>
      receiver.received.filter((event) => event.account === account).map(({ number }) => number);
    const remove = async () => {
      await first.admin("webhook", "remove", id);
      await receiver.stop();
    };
    return { id, receiver, find, numbersOf, remove };
  }

  it("wait for no slow receiver: neither those to another one, nor those of another account", async () => {
    const [good, slow] = [await receive(), await receive()];
    const held: ServerResponse[] = [];
    let cut = 0;
    slow.receiver.respond = (_, response) => {
      held.push(response.once("close", () => response.writableEnded || cut++));
    };
    const accounts = [await addAccount(), await addAccount(), await addAccount()];
    await eventually(() => expect(held).toHaveLength(3));
    for (const { email } of accounts) await add(email, 1);
    await eventually(() => expect(good.receiver.received).toHaveLength(6));
    expect([held.length, cut], "the slow one has not been waited for").toEqual([3, 0]);

    const [one, other] = accounts as [(typeof accounts)[0], (typeof accounts)[0]];
    slow.receiver.respond = (event, response) => {
      if (event.account === one.id) held.push(response);
      else response.writeHead(204).end();
    };
    for (const response of held) response.writeHead(204).end();
    await eventually(() => expect(held).toHaveLength(4));
    for (const { email } of [one, other]) await add(email, 1);
    await eventually(() => expect(slow.numbersOf(other.id)).toEqual([1, 2, 3]));
    expect(slow.numbersOf(one.id)).toEqual([1, 2]);
    expect(held).toHaveLength(4);
    for (const { remove } of [good, slow]) await remove();
  });

  it("are not sent to a webhook that was removed while one of them was on its way", async () => {
    const [left, removed] = [await receive(), await receive()];
    const { email } = await addAccount();
    await eventually(() => expect(left.receiver.received).toHaveLength(1));
    await eventually(async () => expect(await removed.find()).toMatchObject({ waiting: 0 }));
    const held: ServerResponse[] = [];
    removed.receiver.respond = (_, response) => held.push(response);
    for (const credits of [1, 2]) await add(email, credits);
    await eventually(() => expect(left.receiver.received).toHaveLength(3));
    await eventually(() => expect(held).toHaveLength(1));
    await first.admin("webhook", "remove", removed.id);
    for (const credits of [3, 4]) {
      // A round that has this one has seen that the other is gone.
      await add(email, credits);
      await eventually(() => expect(left.receiver.received).toHaveLength(1 + credits));
      for (const response of held.splice(0)) response.writeHead(204).end();
    }
    expect(removed.receiver.received).toHaveLength(2);
    await removed.receiver.stop();
    await left.remove();
  });

  it("are given up after three days, and what follows them comes, where others are accepted", async () => {
    const { receiver, id, find, numbersOf, remove } = await receive();
    const [one, other] = [await addAccount(), await addAccount()];
    await eventually(() => expect(receiver.received).toHaveLength(2));
    receiver.respond = (event, response) =>
      response.writeHead(event.account === one.id && event.number === 2 ? 500 : 204).end();
    await add(one.email, 1);
    await add(one.email, 1);
    await eventually(async () => expect(await find()).toMatchObject({ state: "failing", waiting: 2 }));
    let tries = numbersOf(one.id).length;
    clock.pass(3 * dayMs - minuteMs);
    await add(other.email, 1);
    await eventually(() => expect(numbersOf(other.id)).toEqual([1, 2]));
    await eventually(() => expect(numbersOf(one.id).length).toBeGreaterThan(tries));
    await eventually(async () => expect(await find()).toMatchObject({ waiting: 2, failed: 0 }));
    tries = numbersOf(one.id).length;
    clock.pass(2 * minuteMs);
    await eventually(() => expect(numbersOf(one.id).slice(tries)).toContain(3));
    await eventually(async () =>
      expect(await find()).toMatchObject({ state: "works", waiting: 0, failed: 1 }),
    );
    const rows = await stage.query(
      `SELECT status FROM webhook_deliveries WHERE webhook_id = '${id}' AND state = 'failed'`,
    );
    expect(rows.map(({ status }) => Number(status))).toEqual([500]);
    await remove();
  });

  it("stop a webhook that has accepted nothing for three days, and no sooner", async () => {
    const { receiver, find, numbersOf, remove } = await receive();
    const { id: account, email } = await addAccount();
    await eventually(() => expect(receiver.received).toHaveLength(1));
    receiver.respond = (_, response) => response.writeHead(500).end();
    await add(email, 1);
    await eventually(async () => expect(await find()).toMatchObject({ state: "failing" }));
    const tries = numbersOf(account).length;
    clock.pass(3 * dayMs - minuteMs);
    await eventually(() => expect(numbersOf(account).length).toBeGreaterThan(tries));
    await eventually(async () => expect(await find()).toMatchObject({ state: "failing" }));
    clock.pass(2 * minuteMs);
    await eventually(async () => expect(await find()).toMatchObject({ state: "stopped", waiting: 1 }));
    await remove();
  });

  it("go on where an answer comes after the lease has ended, as after a pause of the instance or its store", async () => {
    const { receiver, find, numbersOf, remove } = await receive();
    const { id: account, email } = await addAccount();
    await eventually(() => expect(numbersOf(account)).toEqual([1]));
    const held: ServerResponse[] = [];
    receiver.respond = (_, response) => held.push(response);
    for (const credits of [1, 2]) await add(email, credits);
    await eventually(() => expect(held).toHaveLength(1));
    await eventually(async () => expect(await find()).toMatchObject({ waiting: 2 }));
    receiver.recover();
    clock.pass(16_000);
    for (const response of held) response.writeHead(204).end();
    await eventually(() => expect(numbersOf(account)).toEqual([1, 2, 3]));
    await eventually(async () => expect(await find()).toMatchObject({ state: "works", waiting: 0 }));
    await remove();
  });

  it("wait until they are answered, also where a later one of another account has arrived", async () => {
    const { receiver, id, find, remove } = await receive();
    const [one, other] = [await addAccount(), await addAccount()];
    await eventually(() => expect(receiver.received).toHaveLength(2));
    await eventually(async () => expect(await find()).toMatchObject({ waiting: 0 }));
    const held: ServerResponse[] = [];
    receiver.respond = (event, response) => {
      if (event.account === one.id) held.push(response);
      else response.writeHead(204).end();
    };
    await add(one.email, 1);
    await eventually(() => expect(held).toHaveLength(1));
    await add(other.email, 1);
    const noted = `SELECT number FROM webhook_deliveries WHERE webhook_id = '${id}' AND account_id = '${other.id}'`;
    await eventually(async () => expect(await stage.query(noted)).toHaveLength(2));
    // A process that begins now sends both again, and loses neither.
    expect(await find()).toMatchObject({ waiting: 2 });
    for (const response of held) response.writeHead(204).end();
    await eventually(async () => expect(await find()).toMatchObject({ waiting: 0 }));
    await remove();
  });

  it("are kept also where one is refused while the answer about another is being written", async () => {
    const { receiver, id, numbersOf, remove } = await receive();
    const accounts = [await addAccount(), await addAccount()];
    for (const one of accounts) await eventually(() => expect(numbersOf(one.id)).toEqual([1]));
    const held: ServerResponse[] = [];
    receiver.respond = (_, response) => held.push(response);
    for (const { email } of accounts) await add(email, 1);
    await eventually(() => expect(held).toHaveLength(2));
    const [first, second] = held;
    stage.freeze();
    first?.writeHead(500).end();
    await sleep(500); // more than a round: it waits to be written
    second?.writeHead(500).end();
    await sleep(100);
    stage.thaw();
    const waiting = `SELECT attempts FROM webhook_deliveries WHERE webhook_id = '${id}' AND state = 'waiting'`;
    // Before the next attempt, which is not answered.
    await eventually(async () =>
      expect((await stage.query(waiting)).map(({ attempts }) => Number(attempts))).toEqual([1, 1]),
    );
    receiver.recover();
    await remove();
  });

  it("are noted for no webhook that an operator has changed since it was read", async () => {
    const { id, remove } = await receive();
    const db = await stage.open();
    const taken = `lease_by = '${leaseHolder()}', lease_until_ms = 1e15, stopped_at_ms = 1`;
    await stage.query(`UPDATE webhooks SET ${taken} WHERE id = '${id}'`);
    const [read] = (await listWebhooks(db)).filter((webhook) => webhook.id === id);
    const runner = new DeliveryRunner(read ?? expect.fail(), []);
    await startAgain(db, id, {}, clock.now());
    expect(await runner.flush(db, 0)).toBe(false);
    await runner.stop();
    expect(await stage.query(`SELECT stopped_at_ms, lease_by FROM webhooks WHERE id = '${id}'`)).toEqual([
      { stopped_at_ms: null, lease_by: leaseHolder() },
    ]);
    await remove();
  });

  it("of one account wait in any number, at any instance, and no other account waits for them", async () => {
    const { receiver, id, find, numbersOf, remove } = await receive();
    const [one, other] = [await addAccount(), await addAccount()];
    await eventually(() => expect(receiver.received).toHaveLength(2));
    const refuse: typeof receiver.respond = (event, response) =>
      response.writeHead(event.account === one.id ? 500 : 204).end();
    receiver.respond = refuse;
    await add(one.email, 1);
    const happen = async (count: number) => {
      const ids = Array.from({ length: count }, () => `evt_${randomBytes(16).toString("hex")}`);
      const rows = ids.map((id) => `('${id}', '${one.id}', 'credits.changed', '{}', ${clock.now()})`);
      await stage.query(`INSERT INTO events (id, account_id, type, data, at_ms) VALUES ${rows.join()}`);
    };
    await happen(30);
    await eventually(async () => expect(await find()).toMatchObject({ state: "failing", waiting: 31 }));
    await first.admin("webhook", "rotate", id); // from then on, delivery begins anew
    await happen(20);
    receiver.recover();
    clock.pass(hourMs);
    await eventually(async () => expect(await find()).toMatchObject({ state: "works", waiting: 0 }));
    expect([...new Set(numbersOf(one.id))]).toEqual(Array.from({ length: 52 }, (_, at) => at + 1));

    receiver.respond = refuse;
    for (let at = 0; at < 11; at++) await happen(500);
    await eventually(async () => expect(await find()).toMatchObject({ waiting: 5500 }));
    await add(other.email, 1);
    await eventually(() => expect(numbersOf(other.id)).toEqual([1, 2]));
    await remove();
  });

  it("go on at another instance while the one that had them is frozen, which then sends none of them", async () => {
    const { receiver, find, numbersOf, remove } = await receive();
    const { id: account, email } = await addAccount();
    await eventually(() => expect(numbersOf(account)).toEqual([1]));
    await eventually(async () => expect(await find()).toMatchObject({ waiting: 0 }));
    const second = await Service.start(environment);
    const held: ServerResponse[] = [];
    receiver.respond = (_, response) => held.push(response);
    for (const credits of [1, 2, 3]) await add(email, credits);
    await eventually(() => expect(held).toHaveLength(1));
    await eventually(async () => expect(await find()).toMatchObject({ waiting: 3 }));
    onTestFinished(() => first.signal("SIGCONT"));
    await eventually(async () => {
      first.signal("SIGSTOP");
      const { code } = await add(email, 4);
      // It may have been frozen in a transaction.
      if (code !== 0) first.signal("SIGCONT");
      expect(code).toBe(0);
    });
    receiver.recover();
    clock.pass(16_000);
    await eventually(() => expect(numbersOf(account)).toEqual([1, 2, 2, 3, 4, 5]));
    for (const response of held) response.writeHead(204).end();
    first.signal("SIGCONT");
    await eventually(async () => expect((await first.ask("/api/health")).status).toBe(200));
    await add(email, 5);
    await eventually(() => expect(numbersOf(account)).toEqual([1, 2, 2, 3, 4, 5, 6]));
    const ids = new Set(receiver.received.map(({ id }) => id));
    expect(ids.size).toBe(6);
    await eventually(async () => expect(await find()).toMatchObject({ state: "works", waiting: 0 }));
    await second.stop();
    await remove();
  });
});
