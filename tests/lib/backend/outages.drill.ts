import { describe, expect, it } from "vitest";
import { startPlainPair } from "@/tests/failover/plain-pair";
import { BackendCaller, withBackendApi } from "@/tests/support/backend-caller";
import { startService } from "@/tests/support/block";
import { besideDatabaseUrl, eventually, queryOnce } from "@/tests/support/databases";
import { illStores } from "@/tests/support/ill-stores";

describe.each(illStores)("a spend while the store is ill, on $name", async ({ prepare }) => {
  const ill = await prepare();
  const settings = await withBackendApi({ SIGN_IN: "local", ...ill.environment });
  const service = await startService(settings, { expectErrors: true });
  const worker = await BackendCaller.add(service, "worker");
  const readAll = async (id: string) =>
    JSON.parse((await worker.get(`/v1/accounts/${id}/entries?limit=1000`)).text);

  it.each(Object.entries(ill.states))(
    "%s is refused for now, and repeated it counts once",
    async (state, [begin, end]) => {
      const email = `${state}@example.com`;
      const { id } = await service.adminJson<{ id: string }>("account", "add", email, "--credits", "1000");
      const spend = (key: number) =>
        worker.post(`/v1/accounts/${id}/spends`, { credits: 1, reason: "A page" }, `${state} ${key}`);
      const answers = [await spend(0)];
      await begin(service);
      // A full disk takes what fits into the space that the log of changes already has; a slow store is only late.
      while (answers.at(-1)?.status === 200 && answers.length < (state === "full" ? 600 : 5))
        answers.push(await spend(answers.length));
      await end(service);
      const refused = answers.at(-1);
      if (state !== "slow") {
        expect(refused?.status).toBe(503);
        expect(Number(refused?.headers["retry-after"])).toBeGreaterThan(0);
        expect(JSON.parse(refused?.text ?? "").error.code).toBe("unavailable");
      }
      await eventually(async () => expect((await spend(answers.length - 1)).status).toBe(200));
      for (const [key, { status, text }] of answers.entries())
        if (status === 200) expect((await spend(key)).text).toBe(text);
      const { entries, balance } = await readAll(id);
      expect(entries).toHaveLength(1 + answers.length);
      expect(balance).toBe(1000 - answers.length);
    },
  );
});

const pair = await startPlainPair({ isSynchronous: true });

describe.runIf(pair)("a primary that has lost its synchronous standby", async () => {
  const url = pair?.url ?? "";
  const service = await startService(
    await withBackendApi({ ...besideDatabaseUrl, DATABASE_URL: url, SIGN_IN: "local" }),
    { expectErrors: true },
  );
  const worker = await BackendCaller.add(service, "worker");
  const primary = url.replace(/,[^/]*/, "");
  const follow = async (standby: string) => {
    await queryOnce(primary, `ALTER SYSTEM SET synchronous_standby_names = '${standby}'`);
    await queryOnce(primary, "SELECT pg_reload_conf()");
  };

  it("refuses nothing: its successor may have what it does not find", async () => {
    const asked = [
      ["/v1/entries/none/reverse", { reason: "It failed" }, "entry_not_found"],
      ["/v1/holds/none/release", {}, "hold_not_found"],
      ["/v1/holds/none/settle", { credits: 1 }, "hold_not_found"],
      ["/v1/accounts/none/spends", { credits: 1, reason: "A page" }, "account_not_found"],
    ] as const;
    const say = async () => {
      const answers = asked.map(([path, body], key) => worker.post(path, body, `lost ${key}`));
      return (await Promise.all(answers)).map(({ text }) => JSON.parse(text).error.code);
    };
    const found = asked.map(([, , code]) => code);
    expect(await say()).toEqual(found);
    await follow("gone");
    await eventually(async () => expect(await say()).toEqual(asked.map(() => "unavailable")));
    await follow("*");
    await eventually(async () => expect(await say()).toEqual(found));
  });
});
