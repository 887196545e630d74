import { createPublicKey, verify } from "node:crypto";
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { parseReceiver } from "@/lib/events/receiver";
import { startService, startStage } from "@/tests/support/block";
import { makeClock } from "@/tests/support/clock";
import { eventually } from "@/tests/support/databases";
import { engines } from "@/tests/support/engines";
import { EventReceiver } from "@/tests/support/event-receiver";
import { Service } from "@/tests/support/service";

const hourMs = 3_600_000;

describe.each(engines)("webhooks on $name", async (engine) => {
  const stage = await startStage(engine);
  const clock = makeClock();
  const service = await startService({ ...stage.environment, ...clock.environment });

  type Added = { id: string; secret: string; publicKey?: string };
  const webhook = <Answer = Added>(...args: string[]) => service.adminJson<Answer>("webhook", ...args);
  const find = async (id: string) =>
    (await webhook<{ id: string; state: string; waiting: number; failed: number }[]>("list")).find(
      (one) => one.id === id,
    );
  let people = 0;
  async function addAccount() {
    const email = `ceo${people++}@example.com`;
    const { id } = await service.adminJson<{ id: string }>("account", "add", email, "--plan", "hobby");
    return { id, email };
  }
  const add = (email: string, credits: number) => service.admin("credits", "add", email, String(credits));
  async function receive(...options: string[]) {
    const receiver = await EventReceiver.start();
    const { id, secret } = await webhook("add", receiver.url, ...options);
    // The library refuses a clock that is ahead.
    if (clock.now() < Date.now() + 1000) receiver.secret = secret;
    return { receiver, id };
  }
  const typesOf = ({ received }: EventReceiver, account: string) =>
    received.filter((event) => event.account === account).map(({ type }) => type);

  it("bring what happens from then on, in order, as the official library verifies it", async () => {
    const before = await addAccount();
    const { receiver, id } = await receive();
    expect(id).toMatch(/^wh_[\w-]{16}$/);
    expect(receiver.secret).toMatch(/^whsec_[\w+/]{43}=$/);
    const { id: account, email } = await addAccount();
    await add(email, 2);
    await add(email, -1);
    await eventually(() =>
      expect(typesOf(receiver, account)).toEqual(["account.created", "credits.changed", "credits.changed"]),
    );
    expect(receiver.faults).toEqual([]);
    expect(receiver.received.map(({ account }) => account)).not.toContain(before.id);
    expect(receiver.received.at(-1)).toMatchObject({
      id: expect.stringMatching(/^evt_[\da-f]{32}$/),
      number: 3,
      data: { before: { balance: 2, held: 0 }, after: { balance: 1, held: 0 } },
    });
    const works = { url: receiver.url, events: null, state: "works", waiting: 0 };
    await eventually(async () => expect(await find(id)).toMatchObject(works));
    await service.admin("webhook", "remove", id);
    await add(email, 5);
    await addAccount();
    expect(await webhook("list")).toEqual([]);
    expect(receiver.received).toHaveLength(3);
    await receiver.stop();
  });

  it("bring only what was asked for, and refuse what cannot be a receiver", async () => {
    const { receiver, id } = await receive("--events", "account.deleted,credits.changed");
    const { id: account, email } = await addAccount();
    await add(email, 1);
    await service.admin("account", "delete", email);
    await eventually(() =>
      expect(typesOf(receiver, account)).toEqual(["credits.changed", "account.deleted"]),
    );
    await service.admin("webhook", "remove", id);
    for (const [url, words] of [
      ["http://systems.example.com/", "must be https"],
      ["https://10.0.0.1/", "no public network"],
      ["https://[::ffff:169.254.169.254]/", "no public network"],
      ["https://[64:ff9b::a9fe:a9fe]/", "no public network"],
      ["https://[fd00::1]/", "no public network"],
      ["https://0.0.0.0/", "no public network"],
      ["https://[::7f00:1]/", "no public network"],
      ["https://[::ffff:0:a00:1]/", "no public network"],
      ["https://[2001::1]/", "no public network"],
      ["https://[fec0::1]/", "no public network"],
      ["https://ann:secret@systems.example.com/", "name or a password"],
      ["ftp://systems.example.com/", "no address of a receiver"],
    ] as const) {
      const { code, stderr } = await service.admin("webhook", "add", url);
      expect([url, code]).toEqual([url, 1]);
      expect(stderr).toContain(words);
    }
    // The last is 8.8.8.8, as resolvers give it where IPv6 alone leads out (KeeperHub/keeperhub#1269).
    for (const url of ["https://[2606:4700::1111]/", "https://8.8.8.8/", "https://[64:ff9b::808:808]/"])
      expect(parseReceiver(url).href).toBe(url);
    expect((await service.admin("webhook", "add", receiver.url, "--events", "account.gone")).code).not.toBe(
      0,
    );
    await receiver.stop();
  });

  it("go to fifty receivers at most", async () => {
    const rows = Array.from(
      { length: 49 },
      (_, at) => `('wh_${at}', 'https://x.example', '', 0, 0, 0, 1, 0)`,
    );
    const columns = "id, url, sealed_secret, added_at_ms, position, version, stopped_at_ms, lease_until_ms";
    await stage.query(`INSERT INTO webhooks (${columns}) VALUES ${rows.join()}`);
    await webhook("add", "https://x.example");
    expect((await service.admin("webhook", "add", "https://x.example")).stderr).toContain(
      "There are 50 webhooks already.",
    );
    await stage.query("DELETE FROM webhooks");
  });

  it("are signed with two secrets for a day after a rotation, or with a private key", async () => {
    const { receiver, id } = await receive();
    const former = receiver.secret;
    const { secret } = await webhook("rotate", id);
    expect(secret).not.toBe(former);
    for (const one of [former, secret]) {
      receiver.secret = one;
      expect(await webhook("test", id)).toEqual({ id, accepted: true, status: 204, answer: "" });
      expect(receiver.received.at(-1)?.signature).toMatch(/^v1,[\w+/]{43}= v1,[\w+/]{43}=$/);
    }
    clock.pass(25 * hourMs);
    const failing = await service.admin("--json", "webhook", "test", id);
    expect(failing.code, "the receiver's clock is a day behind").toBe(1);
    receiver.secret = undefined;
    await webhook("test", id);
    expect(receiver.received.at(-1)?.signature).toMatch(/^v1,[\w+/]{43}=$/);
    await service.admin("webhook", "remove", id);

    const { publicKey = "", ...added } = await webhook("add", receiver.url, "--ed25519");
    expect(added).toEqual({ id: expect.any(String) });
    const [, x = ""] = /^whpk_([\w+/]{43}=)$/.exec(publicKey) ?? [];
    receiver.respond = (_, response) => response.writeHead(200).end("thank you");
    expect(await webhook("test", added.id)).toMatchObject({ accepted: true, answer: "thank you" });
    const last = receiver.received.at(-1);
    const [, signature = ""] = /^v1a,([\w+/]{86}==)$/.exec(last?.signature ?? "") ?? [];
    const jwk = { kty: "OKP", crv: "Ed25519", x: Buffer.from(x, "base64").toString("base64url") };
    const key = createPublicKey({ key: jwk, format: "jwk" });
    expect(verify(null, Buffer.from(last?.signed ?? ""), key, Buffer.from(signature, "base64"))).toBe(true);
    // As after the loss of the APP_SECRET that sealed it.
    await stage.query(
      `UPDATE webhooks SET sealed_secret = 'AAAA' || substr(sealed_secret, 5) WHERE id = '${added.id}'`,
    );
    const publicOne = { id: added.id, publicKey: expect.stringMatching(/^whpk_/) };
    expect(await webhook("rotate", added.id), "of the same kind").toEqual(publicOne);
    expect(await webhook("rotate", added.id)).toEqual(publicOne);
    await service.admin("webhook", "remove", added.id);
    await receiver.stop();
  });

  it("wait for a receiver that fails, each account in its order, and cost the others nothing", async () => {
    const [good, bad] = [await receive(), await receive()];
    const [one, other] = [await addAccount(), await addAccount()];
    await eventually(() => expect(bad.receiver.received.length).toBe(2));
    // Only what is about one account fails.
    bad.receiver.respond = (event, response) =>
      response.writeHead(event.account === one.id ? 500 : 200).end("no such account");
    await add(one.email, 1);
    await eventually(() => expect(typesOf(bad.receiver, one.id)).toHaveLength(2));
    await add(one.email, 2);
    await add(other.email, 1);
    await eventually(() => {
      expect(typesOf(good.receiver, one.id)).toHaveLength(3);
      expect(typesOf(bad.receiver, other.id)).toHaveLength(2);
    });
    expect(typesOf(bad.receiver, one.id)).toHaveLength(2);
    await eventually(async () => expect(await find(bad.id)).toMatchObject({ waiting: 2 }));
    bad.receiver.recover();
    clock.pass(10_000);
    await eventually(() => expect(typesOf(bad.receiver, one.id)).toHaveLength(4));
    const numbers = bad.receiver.received
      .filter(({ account }) => account === one.id)
      .map(({ number }) => number);
    expect(numbers).toEqual([1, 2, 2, 3]);
    await eventually(async () => expect(await find(bad.id)).toMatchObject({ state: "works", waiting: 0 }));
    for (const { id, receiver } of [good, bad]) {
      await service.admin("webhook", "remove", id);
      await receiver.stop();
    }
  });

  it("stop at 410 and after three days, say so, and go on where they stopped after a test", async () => {
    const { receiver, id } = await receive();
    receiver.secret = undefined;
    const { id: account, email } = await addAccount();
    await eventually(() => expect(receiver.received).toHaveLength(1));
    receiver.respond = (_, response) => response.writeHead(410).end();
    await add(email, 1);
    await eventually(async () => expect(await find(id)).toMatchObject({ state: "stopped", waiting: 1 }));
    expect((await service.admin("check")).stdout).toContain(`${id} is stopped since 20`);
    await add(email, 2);
    receiver.respond = (_, response) => response.writeHead(503).end("soon");
    expect((await service.admin("webhook", "test", id)).stdout).toContain("503: soon");
    expect(await find(id)).toMatchObject({ state: "stopped" });
    receiver.recover();
    await service.admin("webhook", "test", id);
    await eventually(() =>
      expect(typesOf(receiver, account).slice(-2)).toEqual(["credits.changed", "credits.changed"]),
    );
    await eventually(async () => expect(await find(id)).toMatchObject({ state: "works", waiting: 0 }));

    receiver.respond = (_, response) => response.writeHead(500).end("x".repeat(100_000));
    await add(email, 3);
    await eventually(async () => expect(await find(id)).toMatchObject({ state: "failing" }));
    clock.pass(71 * hourMs);
    await add(email, 4);
    await eventually(async () => {
      const [row] = await stage.query(
        "SELECT attempts, answer FROM webhook_deliveries WHERE state = 'waiting' ORDER BY number",
      );
      expect(Number(row?.attempts)).toBeGreaterThan(1);
      expect(row?.answer).toBe("x".repeat(500));
    });
    clock.pass(2 * hourMs);
    await eventually(async () => expect(await find(id)).toMatchObject({ state: "stopped" }));
    receiver.recover();
    await service.admin("webhook", "test", id);
    await eventually(async () =>
      expect(await find(id)).toMatchObject({ state: "works", waiting: 0, failed: 0 }),
    );
    expect(receiver.received.at(-1)).toMatchObject({ account, number: 5 });
    await service.admin("webhook", "remove", id);
    await receiver.stop();
  });

  it("are sent again within seconds to a receiver that broke off many at once", async () => {
    const { receiver, id } = await receive();
    const held: ServerResponse[] = [];
    receiver.respond = (_, response) => held.push(response);
    const added: string[] = [];
    for (let n = 0; n < 12; n++) added.push((await addAccount()).id);
    await eventually(() => expect(held).toHaveLength(12));
    receiver.recover();
    const before = receiver.received.length;
    for (const response of held) response.destroy();
    await eventually(() => {
      const again = new Set(receiver.received.slice(before).map(({ account }) => account));
      expect(again).toEqual(new Set(added));
    });
    await service.admin("webhook", "remove", id);
    await receiver.stop();
  });

  it.each([
    ["seconds", () => "7200"],
    ["a date", (nowMs: number) => new Date(nowMs + 2 * hourMs).toUTCString()],
  ])("wait as long as the receiver asks for in %s", async (_, askFor) => {
    const { receiver, id } = await receive();
    receiver.respond = (_, response) => response.writeHead(503, { "retry-after": askFor(clock.now()) }).end();
    await addAccount();
    await eventually(async () => {
      const [row] = await stage.query(
        `SELECT next_at_ms, at_ms FROM webhook_deliveries WHERE webhook_id = '${id}'`,
      );
      const waitMs = Number(row?.next_at_ms) - Number(row?.at_ms);
      expect(Math.abs(waitMs - 2 * hourMs)).toBeLessThan(2000);
    });
    const asked = receiver.received.length;
    receiver.recover();
    await service.admin("webhook", "test", id);
    await eventually(() => expect(receiver.received.length).toBeGreaterThan(asked + 1));
    await service.admin("webhook", "remove", id);
    await receiver.stop();
  });

  it.each([
    [
      "changes the protocol",
      "101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x",
      "closed without",
    ],
    ["breaks off as it accepts", "200 OK\r\ncontent-length: 9", "the answer broke off"],
    ["breaks off as it refuses", "410 Gone\r\ncontent-length: 9", "410: gone"],
  ])("are not accepted by an answer that %s", async (_, head, words) => {
    const { receiver, id } = await receive();
    receiver.secret = undefined;
    receiver.respond = (_, __, { socket }) => socket.end(`HTTP/1.1 ${head}\r\n\r\ngone`);
    const { code, stdout } = await service.admin("webhook", "test", id);
    expect([code, stdout]).toEqual([1, expect.stringContaining(words)]);
    await service.admin("webhook", "remove", id);
    await receiver.stop();
  });

  it("are sent at once on another connection when an idle one was closed, and leave none open for long", async () => {
    const { receiver, id } = await receive();
    receiver.secret = undefined;
    const used = new Set<Socket>();
    let resets = 0;
    receiver.respond = (_, __, { socket }) => {
      if (!used.has(socket)) socket.write("HTTP/1.1 204 No Content\r\n\r\n");
      else if (socket.resetAndDestroy()) resets++;
      used.add(socket);
    };
    const { id: account, email } = await addAccount();
    await eventually(async () => {
      await add(email, 1);
      expect(resets).toBeGreaterThan(0);
    });
    await eventually(async () => expect(await find(id)).toMatchObject({ state: "works", waiting: 0 }));
    const rows = await stage.query(
      `SELECT attempts FROM webhook_deliveries WHERE webhook_id = '${id}' AND account_id = '${account}'`,
    );
    expect(new Set(rows.map(({ attempts }) => Number(attempts)))).toEqual(new Set([1]));
    await eventually(() => expect([...used].filter(({ destroyed }) => !destroyed)).toEqual([]));
    await service.admin("webhook", "remove", id);
    await receiver.stop();
  });

  it("follow no redirect, wait ten seconds, and reach no private address by a name", async () => {
    const { receiver, id } = await receive();
    let asked = 0;
    receiver.respond = (_, response) => {
      asked++;
      response.writeHead(302, { location: receiver.url }).end();
    };
    const { stdout } = await service.admin("webhook", "test", id);
    expect(stdout).toContain(`302: a redirect to ${receiver.url}, which is not followed: change the address`);
    expect(asked).toBe(1);
    receiver.respond = () => {};
    expect((await service.admin("webhook", "test", id)).stdout).toContain(
      "no whole answer within 10 seconds",
    );
    // A name that led elsewhere when it was added.
    await stage.query(`UPDATE webhooks SET url = 'https://localhost.localdomain.test:1/' WHERE id = '${id}'`);
    expect((await service.admin("webhook", "test", id)).code).toBe(1);
    await service.admin("webhook", "remove", id);
    await receiver.stop();
  });

  it("are sent again: one, and all since an instant", async () => {
    const { receiver, id } = await receive();
    const bystander = await receive();
    const since = new Date(Date.now() - 1000).toISOString();
    const { id: account, email } = await addAccount();
    bystander.receiver.respond = (_, response) => response.writeHead(500).end();
    await add(email, 1);
    await eventually(() => expect(typesOf(receiver, account)).toHaveLength(2));
    await eventually(async () => expect(await find(id)).toMatchObject({ waiting: 0 }));
    const waits = expect.objectContaining({ waiting: 2 });
    await eventually(async () => expect(await find(bystander.id)).toEqual(waits));
    const [first] = receiver.received;
    await webhook("resend", id, "--event", String(first?.id));
    await eventually(() => expect(receiver.received.at(-1)?.id).toBe(first?.id));
    const before = receiver.received.length;
    await webhook("resend", id, "--since", since);
    await eventually(() =>
      expect(receiver.received.slice(before).filter((event) => event.account === account)).toHaveLength(2),
    );
    expect(await find(bystander.id), "what waits for another webhook").toEqual(waits);
    await bystander.receiver.stop();
    expect((await service.admin("webhook", "resend", id, "--event", "evt_none")).stderr).toContain(
      "no longer here",
    );
    const help = await service.admin("webhook", "resend", "--help");
    const [example = ""] = /webhook resend wh_from_the_list.*$/m.exec(help.stdout) ?? [];
    const words = example.replace("wh_from_the_list", id).split(" ");
    expect(await service.admin(...words)).toMatchObject({ code: 0, stdout: "It is sent again at once.\n" });
    const { stderr } = await service.admin("webhook", "resend", "wh_none", "--event", String(first?.id));
    expect(stderr).toContain("There is no such webhook.");
    await receiver.stop();
  });
});

it.each(engines)(
  "webhooks on $name keep both secrets when APP_SECRET is rotated, also one that is stopped",
  async (engine) => {
    const [before, after] = ["A".repeat(43), "B".repeat(43)];
    const stage = await engine.prepare({ isEmpty: true });
    const first = await Service.start({ ...stage.environment, APP_SECRET: before });
    const receiver = await EventReceiver.start();
    const { id } = await first.adminJson<{ id: string }>("webhook", "add", receiver.url);
    await first.adminJson("webhook", "rotate", id);
    receiver.respond = (_, response) => response.writeHead(410).end();
    await first.adminJson("account", "add", "ceo@example.com");
    await eventually(async () =>
      expect(await first.adminJson("webhook", "list")).toMatchObject([{ state: "stopped" }]),
    );
    await first.stop();

    const second = await Service.start({ ...stage.environment, APP_SECRET: after });
    expect((await second.admin("check")).stdout).toContain("the secrets of webhooks");
    expect(await second.adminJson("webhook", "list")).toMatchObject([{ state: "locked" }]);
    expect(await second.admin("webhook", "test", id)).toEqual({
      code: 1,
      stdout: "",
      stderr:
        "invalid_request: The secret of this webhook was encrypted with another APP_SECRET, so nothing is sent to it. Set that as APP_SECRET_PREVIOUS, for the server and for commands. If it is lost, rotate the secret of the webhook, and give the new one to its receiver.\n",
    });
    await second.stop({ expectErrors: true });
    const readSealed = () => stage.query("SELECT sealed_secret FROM webhooks");
    const sealed = await readSealed();
    const both = await Service.start({
      ...stage.environment,
      APP_SECRET: after,
      APP_SECRET_PREVIOUS: before,
    });
    await expect.poll(readSealed).not.toEqual(sealed);
    await both.stop();

    const third = await Service.start({ ...stage.environment, APP_SECRET: after });
    receiver.recover();
    expect(await third.adminJson("webhook", "test", id)).toMatchObject({ accepted: true });
    expect(receiver.received.at(-1)?.signature).toMatch(/^v1,[\w+/]{43}= v1,[\w+/]{43}=$/);
    await third.stop();
    await receiver.stop();
    await stage.clear();
  },
);
