import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { script as proofScript } from "@/lib/auth/tokens/proof-memory";
import { operations } from "@/lib/http/register/operations";
import { exactRatelimit, removeLatest } from "@/lib/rate-limit/exact-window";
import type { RateLimitDecision } from "@/lib/rate-limit/local-counter";
import { SharedCounter } from "@/lib/rate-limit/shared-counter";
import { trust } from "@/tests/support/certificate";
import { openStore } from "@/tests/support/counter-stores";
import { eventually } from "@/tests/support/databases";
import { reservePort } from "@/tests/support/port";
import { refusals, startRedisBridge } from "@/tests/support/redis-bridge";
import {
  type RedisServer,
  startCluster,
  startRedisServer,
  startSentinels,
} from "@/tests/support/redis-servers";
import { type Environment, Service } from "@/tests/support/service";
import { startTcpProxy } from "@/tests/support/tcp-proxy";

const { path } = operations.health;
const limit = 120;
const password = "p@ss word";
const userInfo = `:${encodeURIComponent(password)}@`;
const environmentOf = (url: string): Environment => ({ REDIS_URL: url, APP_SECRET: "s".repeat(32) });

/** A counter that decides nothing itself while the store is away, and asks it each time. */
function newCounter(url: string) {
  const fallback = () => "away" as unknown as RateLimitDecision;
  const options = { name: "redis store", limit, windowMs: 60_000, storeTimeoutMs: 400, fallback };
  const counter = new SharedCounter(openStore(environmentOf(url)), options);
  let nowMs = 0;
  return async (key: string) => {
    nowMs += 1000;
    return counter.consume(key, nowMs);
  };
}

describe.runIf(inject("redisPort"))("the connection to Redis", () => {
  it("is made anew when its handshake is not answered", async () => {
    const server = await startRedisServer({ password });
    const bridge = await startRedisBridge(server.port);
    bridge.fault = "frozen";
    const consume = newCounter(
      (bridge.environment.REDIS_URL ?? "").replace("//", `//${userInfo}`).replace(/0$/, "2"),
    );
    expect(await consume("handshake")).toBe("away");
    await eventually(() => expect(bridge.calls).toBeGreaterThan(0));
    bridge.fault = "none";
    await eventually(async () => expect(await consume("handshake")).toMatchObject({ allowed: true }));
    await server.redis.select(2);
    expect(await server.redis.keys("*")).toEqual(["corner-office:redis store:{handshake}"]);
    await bridge.stop();
  });

  it("with ssl_cert_reqs=none is one to Heroku's, whose certificate no one knows, and without is none", async () => {
    const { port } = await startRedisServer({ tls: true, password });
    const url = `rediss://${userInfo}127.0.0.1:${port}`;
    const [strict, lenient] = [newCounter(url), newCounter(`${url}?ssl_cert_reqs=none`)];
    await eventually(async () => expect(await lenient("unverified")).toMatchObject({ allowed: true }));
    expect(await strict("verified")).toBe("away");
    expect(await (await Service.make(environmentOf(url))).check("counters")).toMatchObject({
      detail: expect.stringMatching(/^self-signed certificate/),
      remedy:
        "Name its authority in NODE_EXTRA_CA_CERTS; where there is none, as at Heroku, add ?ssl_cert_reqs=none to REDIS_URL.",
    });
  });

  it.each(refusals)("is made anew after a refusal with %s", async (refusal) => {
    const bridge = await startRedisBridge(inject("redisPort") ?? 0);
    const consume = newCounter(bridge.environment.REDIS_URL ?? "");
    await eventually(async () => expect(await consume(refusal)).toMatchObject({ allowed: true }));
    const { connections } = bridge;
    bridge.fault = refusal;
    expect(await consume(refusal)).toBe("away");
    bridge.fault = "none";
    await eventually(async () => expect(await consume(refusal)).toMatchObject({ allowed: true }));
    expect(bridge.connections).toBeGreaterThan(connections);
    await bridge.stop();
  });

  it("counts for a user who may do no more than the document of the server says", async () => {
    const { port, redis } = await startRedisServer();
    const [, rights = ""] =
      /`(~corner-office:[^`]+)`/.exec(readFileSync("lib/server/README.md", "utf8")) ?? [];
    const service = await Service.make(environmentOf(`valkey://office:secret@127.0.0.1:${port}/1`));
    await redis.call("ACL", "SETUSER", "office", "on", ">secret", "+eval", "+time", "+select", "~other:*");
    expect(await service.check("counters")).toMatchObject({
      works: false,
      remedy: expect.stringContaining("the keys corner-office:*"),
    });
    await redis.call("ACL", "SETUSER", "office", "reset", "on", ">secret", ...rights.split(" "));
    expect(await service.check("counters")).toMatchObject({ works: true, detail: "Redis counts" });
    const proofs = `corner-office:proofs:{${port}}`;
    const store = openStore(environmentOf(`redis://office:secret@127.0.0.1:${port}/1`));
    const now = Math.floor(Date.now() / 1000);
    for (const [id, said] of [...["a", "b", "c"].map((id) => [id, "new"]), ["c", "old"]])
      expect(await store.eval(proofScript, [proofs], [id, now, 300, 2])).toBe(said);
    const limiter = exactRatelimit(store, { name: "acl", limit: 1, windowMs: 60_000, clock: () => 2000 });
    expect(await limiter.limit("client")).toMatchObject({ success: true });
    const earlier = exactRatelimit(store, { name: "acl", limit: 1, windowMs: 60_000, clock: () => 1000 });
    expect(await earlier.limit("client"), "as if its clock had stepped back").toMatchObject({
      success: false,
    });
    await removeLatest(store, "acl", "client");
    store.drop?.();
    redis.disconnect();
  });

  it("counts for nothing where its scripts have no clock (dragonflydb/dragonfly#2555)", async () => {
    const store = openStore(environmentOf(`redis://127.0.0.1:${inject("redisPort")}`));
    const withoutClock = {
      name: store.name,
      eval: (script: string, ...asked: [string[], unknown[]]) =>
        store.eval(script.replace('redis.call("TIME")', '({ "0", "0" })'), ...asked),
    };
    const limiter = exactRatelimit(withoutClock, { name: "no clock", limit: 1, windowMs: 60_000 });
    await expect(limiter.limit("client")).rejects.toThrow("TIME is 0 in scripts of this store");
    const proof = withoutClock.eval(proofScript, ["corner-office:proofs:{no clock}"], ["id", 0, 300, 2]);
    await expect(proof, "a proof").rejects.toThrow("TIME is 0 in scripts of this store");
  });

  it("leads to the new master after a failover behind one address, and check names what the old one refuses", async () => {
    const [before, after] = await Promise.all([startRedisServer(), startRedisServer()]);
    const port = await reservePort();
    const proxy = await startTcpProxy(before.port, port);
    const url = `redis://127.0.0.1:${port}`;
    const consume = newCounter(url);
    await eventually(async () => expect(await consume("failover")).toMatchObject({ allowed: true }));
    await before.redis.replicaof("127.0.0.1", after.port);
    expect(await consume("failover")).toBe("away");
    const service = await Service.make(environmentOf(url));
    expect(await service.check("counters")).toMatchObject({
      works: false,
      detail: expect.stringContaining("READONLY"),
    });
    proxy.pointTo(after.port);
    await eventually(async () => expect(await consume("failover")).toMatchObject({ allowed: true }));
    await proxy.cut();
  });
});

describe.runIf(inject("redisPort")).each(["Sentinels", "a cluster"] as const)(
  "two instances that count in %s over TLS",
  (way) => {
    let servers: RedisServer[];
    let sentinels: RedisServer[] = [];
    let first: Service;
    let second: Service;
    beforeAll(async () => {
      const access = { tls: true, password };
      let url: string;
      if (way === "Sentinels") {
        ({ servers, sentinels } = await startSentinels(access));
        const query = `master=office&sentinelPassword=${encodeURIComponent(password)}`;
        url = `rediss+sentinel://${userInfo}${addressesOf(sentinels)}/1?${query}`;
      } else {
        servers = await startCluster(access);
        url = `rediss+cluster://${userInfo}${addressesOf(servers)}`;
      }
      const environment = { ...environmentOf(url), NODE_EXTRA_CA_CERTS: trust() };
      [first, second] = await Promise.all([Service.start(environment), Service.start(environment)]);
    });
    afterAll(async () => {
      await Promise.all([first?.stop(), second?.stop()]);
      for (const { redis } of [...servers, ...sentinels]) redis.disconnect();
    });

    if (way === "a cluster")
      it("are told by check, whichever node they name, that it is none of one server", async () => {
        for (const { port } of servers) {
          const url = `rediss://${userInfo}127.0.0.1:${port}`;
          const service = await Service.make({ ...environmentOf(url), NODE_EXTRA_CA_CERTS: trust() });
          expect(await service.check("counters")).toMatchObject({
            works: false,
            detail: expect.stringMatching(/^MOVED /),
            remedy: "It is a cluster: let REDIS_URL begin with redis+cluster:// or rediss+cluster://.",
          });
        }
      });

    const remaining = async (service: Service, from: string) => {
      const { status, headers } = await service.ask(path, { from });
      expect(status).toBe(200);
      return Number(headers["ratelimit-remaining"]);
    };

    /** A first connection may take longer than the deadline allows. */
    const untilTheyCount = async () => {
      for (const service of [first, second]) {
        await eventually(async () => expect(await remaining(service, "127.0.5.9")).toBeGreaterThan(0));
      }
    };

    it("have one counter for each client", async () => {
      await untilTheyCount();
      for (let client = 1; client <= 12; client++) {
        const from = `127.0.5.${client + 9}`;
        const left = await remaining(first, from);
        expect(left).toBe(limit - 1);
        expect(await remaining(second, from)).toBe(left - 1);
      }
    });

    if (way === "a cluster") {
      it("spread the clients over all nodes", async () => {
        for (const { redis } of servers) expect(await redis.dbsize()).toBeGreaterThan(0);
      });

      it("never refuse while a node does not answer, and count again when it does", async () => {
        const [node] = servers as [RedisServer];
        node.child.kill("SIGSTOP");
        for (let client = 1; client <= 12; client++) await remaining(first, `127.0.5.${client + 9}`);
        node.child.kill("SIGCONT");
        await untilTheyCount();
      });
    }

    if (way === "Sentinels") {
      it.each(["SIGSTOP", "SIGKILL"] as const)(
        "never refuse while a master gone by %s is replaced, and count within 5 seconds of the new one",
        async (signal) => {
          await untilTheyCount();
          const [{ redis: sentinel }] = sentinels as [RedisServer];
          const masterPort = async () => {
            const [, port] = (await sentinel.call(
              "SENTINEL",
              "GET-MASTER-ADDR-BY-NAME",
              "office",
            )) as string[];
            return Number(port);
          };
          const before = await masterPort();
          const master = servers.find(({ port }) => port === before) as RedisServer;
          master.child.kill(signal);
          await eventually(async () => {
            expect(await remaining(first, "127.0.5.8")).toBeGreaterThanOrEqual(0);
            expect(await masterPort()).not.toBe(before);
          });
          const replacedAtMs = Date.now();
          await untilTheyCount();
          expect(Date.now() - replacedAtMs).toBeLessThan(5000);
          master.child.kill("SIGCONT");
          if (signal === "SIGSTOP")
            await eventually(async () =>
              expect(await master.redis.info("replication")).toContain("status:up"),
            );
        },
      );

      it("count while a Sentinel does not answer", async () => {
        const [hung] = sentinels as [RedisServer];
        hung.child.kill("SIGSTOP");
        await first.kill();
        await first.run();
        await untilTheyCount();
        hung.child.kill("SIGCONT");
      });
    }
  },
);

function addressesOf(servers: RedisServer[]): string {
  return servers.map(({ port }) => `127.0.0.1:${port}`).join(",");
}
