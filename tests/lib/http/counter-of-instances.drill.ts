import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from "vitest";
import { rateLimits } from "@/lib/config/limits";
import { forms } from "@/lib/http/register/forms";
import { operations } from "@/lib/http/register/operations";
import { expectQuotaSpent } from "@/tests/support/contract";
import { counterStores } from "@/tests/support/counter-stores";
import { eventually } from "@/tests/support/databases";
import { postLegacy } from "@/tests/support/mcp";
import { reservePort } from "@/tests/support/port";
import { Service } from "@/tests/support/service";

const redisPort = inject("redisPort") ?? 0;
const { path } = operations.health;
const requests = 120;

describe.runIf(redisPort).each(counterStores)(
  "two instances that count in $way",
  ({ way, startBridge, faults }) => {
    let bridge: Awaited<ReturnType<typeof startBridge>>;
    let first: Service;
    let second: Service;
    let metricsPort: number;
    beforeAll(async () => {
      bridge = await startBridge(redisPort);
      metricsPort = await reservePort();
      [first, second] = await Promise.all([
        Service.start({ ...bridge.environment, METRICS_PORT: String(metricsPort) }),
        Service.start(bridge.environment),
      ]);
      await untilTheyCount();
    });
    afterEach(async () => {
      bridge.fault = "none";
      await untilTheyCount();
    });
    afterAll(async () => {
      await Promise.all([first.stop(), second.stop()]);
      await bridge.stop();
    });

    /** A busy machine may take longer over a first call than the deadline allows. */
    async function untilTheyCount() {
      for (const service of [first, second]) {
        await eventually(async () => {
          const { headers } = await service.ask(path, { from: "127.0.2.9" });
          expect(headers["ratelimit-remaining"]).not.toBe("0");
        });
      }
    }

    it("have one counter", async () => {
      const from = `127.0.${way.length}.1`;
      const remaining: unknown[] = [];
      for (const service of [first, second, first, second]) {
        remaining.push((await service.ask(path, { from })).headers["ratelimit-remaining"]);
      }
      expect(remaining).toEqual([1, 2, 3, 4].map((spent) => String(requests - spent)));
    });

    it("refuses one more than that of both together, with the same headers as in process", async () => {
      const from = `127.0.${way.length}.2`;
      for (let n = 0; n < requests; n++) {
        expect((await (n % 2 ? first : second).ask(path, { from })).status).toBe(200);
      }
      let refused = await second.ask(path, { from });
      for (let n = 0; n < 5 && refused.status === 200; n++) refused = await second.ask(path, { from });
      expectQuotaSpent(second, refused, "health", requests);
    });

    it("counts forms of ten minutes together, as it does requests of a minute", async () => {
      const from = `127.0.${way.length}.6`;
      const { perClient } = rateLimits.forms;
      const send = async (service: Service) =>
        (await service.submit(forms.dismissNotice.path, {}, { from })).status;
      for (let n = 0; n < perClient; n++) expect(await send(n % 2 ? first : second)).toBe(303);
      expect([await send(first), await send(second)]).toEqual([429, 429]);
    });

    it("stores no address, only its keyed hash", async () => {
      await first.ask(path, { from: "127.0.2.3" });
      const redis = new Redis({ port: redisPort, host: "127.0.0.1" });
      const keys = await redis.keys("corner-office:health:*");
      redis.disconnect();
      expect(keys.length).toBeGreaterThan(0);
      for (const key of keys) expect(key).toMatch(/^corner-office:health:\{[\w-]{22}\}$/);
    });

    it.each([...faults])(
      "never stops a health check when the store is %s: allowed, nothing remaining, limit as ever",
      async (fault) => {
        bridge.fault = fault;
        bridge.calls = 0;
        const startedAtMs = Date.now();
        for (let n = 0; n < 5; n++) {
          const { status, headers } = await first.ask(path);
          expect(status).toBe(200);
          expect(headers.ratelimit).toBe('"health";r=0');
          expect(headers["ratelimit-limit"]).toBe(String(requests));
          expect(headers["ratelimit-remaining"]).toBe("0");
          expect(headers["ratelimit-policy"]).toBe(`"health";q=${requests};w=60`);
        }
        const tookSeconds = (Date.now() - startedAtMs) / 1000;
        expect(tookSeconds).toBeLessThan(20);
        expect(bridge.calls).toBeGreaterThan(0);
        // Once a second it is asked whether it is back.
        expect(bridge.calls).toBeLessThanOrEqual(1 + Math.floor(tookSeconds));
      },
    );

    it("have one counter for MCP, whichever of the two paths is taken, and one each while it is away", async () => {
      const remaining = async (service: Service, path: string, from = `127.0.${way.length}.5`) => {
        const answer = await postLegacy(service, { method: "tools/list" }, { from, path });
        expect(answer.status).toBe(200);
        return answer.headers["ratelimit-remaining"];
      };
      // A busy machine may take longer over a first call than the deadline allows.
      await eventually(async () => {
        const left = Number(await remaining(first, "/mcp", "127.0.4.9"));
        expect(await remaining(second, "/mcp", "127.0.4.9")).toBe(String(left - 1));
      });

      const leftAfter = (spent: number) => String(60 - spent);
      const [one, other] = ["/mcp", "/api/mcp"] as const;
      expect(await remaining(first, one)).toBe(leftAfter(1));
      expect(await remaining(second, other)).toBe(leftAfter(2));
      expect(await remaining(first, other)).toBe(leftAfter(3));
      expect(await remaining(second, one)).toBe(leftAfter(4));

      bridge.fault = "reset";
      expect(await remaining(first, one), "each process counts for itself").toBe(leftAfter(1));
    });

    it("is up, away, and up again, as /metrics has it", async () => {
      const isUp = async () => {
        await first.ask(path);
        const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
        return /^corner_office_counter_store_up\{quota="health"\} (\d)$/m.exec(text)?.[1];
      };
      await eventually(async () => expect(await isUp()).toBe("1"));
      bridge.fault = "reset";
      await eventually(async () => expect(await isUp()).toBe("0"));
      bridge.fault = "none";
      await eventually(async () => expect(await isUp()).toBe("1"));
    });

    it("is found to count by the built command check", async () => {
      const { stdout } = await first.execute(["dist/admin/main.js", "--json", "check"]);
      const found = JSON.parse(stdout).find(({ what }: { what: string }) => what === "counters");
      expect(found).toMatchObject({ works: true, detail: `${way} counts` });
    });
  },
);
