import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, inject, it } from "vitest";
import { proofBounds } from "@/lib/config/limits";
import { startService, startStage } from "@/tests/support/block";
import { Browser } from "@/tests/support/browser";
import { counterStores, openStore } from "@/tests/support/counter-stores";
import { besideDatabaseUrl, eventually } from "@/tests/support/databases";
import { engines } from "@/tests/support/engines";
import { makeKeyHolder } from "@/tests/support/key-holder";
import { authorizePath, redeemCode, redirectUri } from "@/tests/support/oauth-libraries";
import { answerApp } from "@/tests/support/owner";

const redisPort = inject("redisPort") ?? 0;
const email = "ceo@example.com";

describe.runIf(redisPort && engines.length > 1).each(counterStores)(
  "proofs at two instances that share $way",
  async ({ startBridge }) => {
    const bridge = await startBridge(redisPort);
    const [engine] = engines;
    if (!engine) return;
    const stage = await startStage(engine);
    const shared = { ...stage.environment, ...bridge.environment, ...besideDatabaseUrl };
    const services = [await startService(shared), await startService(shared)] as const;
    const holder = makeKeyHolder(services[0].url);
    let token = "";
    beforeAll(async () => {
      await services[0].adminJson("account", "add", email, "--plan", "licensed");
      const owner = await Browser.signIn(services[0], email);
      const back = await answerApp(
        owner,
        services[0],
        services[0].url + authorizePath("native", redirectUri),
      );
      const dpop = holder.prove("POST", "/oauth/token");
      const { text } = await redeemCode(services[0], "native", redirectUri, back, {}, { dpop });
      token = JSON.parse(text).access_token;
    });
    const use = (at: 0 | 1, headers: Record<string, string>) =>
      services[at].ask("/api/entitlement", { headers });
    const fresh = () => holder.headers("GET", "/api/entitlement", token);

    it("count once at both, and in each while the store is away", async () => {
      await eventually(async () => {
        const headers = fresh();
        expect((await use(0, headers)).status).toBe(200);
        expect((await use(1, headers)).status).toBe(401);
      });
      bridge.fault = "reset";
      const during = fresh();
      expect((await use(0, during)).status).toBe(200);
      expect((await use(0, during)).status).toBe(401);
      bridge.fault = "none";
      await eventually(async () => {
        const headers = fresh();
        expect((await use(1, headers)).status).toBe(200);
        expect((await use(0, headers)).status).toBe(401);
      });
      expect((await use(0, during)).status).toBe(401);
    });

    it("keep to an owner's share in the store, and to its clock", async () => {
      const store = openStore(bridge.environment);
      const { script } = await import("@/lib/auth/tokens/proof-memory");
      const [key, max] = [`proofs-of-${randomUUID()}`, 10];
      const now = Math.floor(Date.now() / 1000);
      const record = (id: string, at: number) =>
        store.eval(script, [key], [id, at, proofBounds.ageSeconds, max]);
      const used = Array.from({ length: 100 }, (_, n) => ({ id: `${n}`, at: now - 100 + n }));
      for (const { id, at } of used) expect(await record(id, at)).toBe("new");
      for (const { id, at } of used) expect(await record(id, at)).not.toBe("new");
      expect(Number(await store.eval('return redis.call("ZCARD", KEYS[1])', [key], []))).toBeLessThanOrEqual(
        12,
      );
      for (const at of [now - 400, now + 400]) expect(await record("x", at)).toBe("old");
      expect(await record("ahead", now + 200)).toBe("new");
      expect(await record("ahead", now + 200)).toBe("seen");
      store.drop?.();
    });
  },
);
