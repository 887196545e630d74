import { execFileSync } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { dayMs } from "@/lib/config/durations";
import { Service } from "@/tests/support/service";
import { createStore, engineNames } from "@/tests/support/stores";
import { percentile, timesDuring } from "@/tests/support/timing";
import type { Experiment } from "./experiment";

const accounts = 200_000;
const refreshTokens = 1_000_000;

/** As many accounts are listed, and a person is erased and a client removed while others have a million refresh tokens. */
export const millionRows: Experiment[] = engineNames.map((engine) => ({
  name: `million-rows-${engine}`,
  async run(see) {
    const store = await createStore(engine);
    const service = await Service.start(store.environment);
    for (const email of ["ceo@example.com", "other@example.com"])
      await service.adminJson("account", "add", email, "--plan", "licensed");
    await service.adminJson("connect", "add", "desk", "Desk", "http://127.0.0.1/callback");
    const headers = { authorization: `Bearer ${await service.token("other@example.com")}` };
    const each = (most: number) =>
      `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${most})`;
    const insert = async (table: string, most: number, values: string) =>
      store.query(`${each(most)} INSERT INTO ${table} SELECT ${values} FROM n`);
    await insert(
      "accounts (id, email, subject, plan, created_at_ms)",
      accounts,
      "'acc_' || i, 'reader' || i || '@example.com', 'user_' || i, 'hobby', 0",
    );
    await insert(
      "connect_state (kind, id_hash, payload, grant_id, expires_at_ms)",
      refreshTokens,
      `'RefreshToken', 'hash-' || i, '{"iat":1,"accountId":"user_' || i || '","clientId":"native","scope":"account:read","grantId":"grant-' || i || '","exp":1}', 'grant-' || i, ${Date.now() + 7 * dayMs} + i % 1000`,
    );
    await store.query("ANALYZE");

    const list = "node --max-old-space-size=48 dist/admin/main.js --json account list | grep -c '\"email\"'";
    const counted = execFileSync("sh", ["-c", list], { env: service.environment as NodeJS.ProcessEnv });
    const listed = Number(counted.toString());
    see({
      what: `account list of ${(accounts + 2).toLocaleString("en")}, in a heap of 48 MB`,
      figure: `${listed.toLocaleString("en")} listed`,
      holds: listed === accounts + 2,
    });
    const slowestDuring = async (other: Promise<unknown>) =>
      percentile(await timesDuring(other, () => service.ask("/api/entitlement", { headers }), 20), 0.99);
    for (const command of [
      ["person", "erase", "ceo@example.com"],
      ["connect", "remove", "desk"],
    ]) {
      const usual = await slowestDuring(sleep(2000));
      const beganAtMs = performance.now();
      let tookMs = 0;
      const running = service.adminJson(...command).then(() => {
        tookMs = performance.now() - beganAtMs;
      });
      const slow = await slowestDuring(running);
      see({
        what: `${command.join(" ")} with ${refreshTokens.toLocaleString("en")} refresh tokens`,
        figure: `${Math.round(tookMs)} ms (5,000 at most)`,
        holds: tookMs < 5000,
      });
      see({
        what: "the 99th percentile of entitlements meanwhile",
        figure: `${slow.toFixed(1)} ms, and ${usual.toFixed(1)} ms before (twice at most)`,
        holds: slow <= 2 * usual,
      });
    }
    await service.kill();
  },
}));
