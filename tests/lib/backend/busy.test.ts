import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { BackendCaller, withBackendApi } from "@/tests/support/backend-caller";
import { startService, startStage } from "@/tests/support/block";
import { engines } from "@/tests/support/engines";
import type { Answer } from "@/tests/support/service";

describe.each(engines)("busy backends on $name", async (engine) => {
  const stage = await startStage(engine);
  const shared = { ...stage.environment, BACKEND_URL: "http://localhost:9" };
  const service = await startService(await withBackendApi(shared));
  const twin = await startService(await withBackendApi(shared));
  const meter = await BackendCaller.add(service, "meter");
  const worker = await BackendCaller.add(service, "worker");
  const addAccount = (name: string) =>
    service.adminJson<{ id: string }>("account", "add", `${name}@example.com`, "--credits", "100000");
  const balanceOf = async (id: string) => JSON.parse((await worker.get(`/v1/accounts/${id}`)).text).balance;

  it("wait for a request with the same key that is in work, at any instance, and get its answer", async () => {
    const { id } = await addAccount("same");
    const commit = await stage.change(`UPDATE accounts SET created_at_ms = 1 WHERE id = '${id}'`);
    const callers = [worker, new BackendCaller(twin, "worker", worker.privateKey)];
    const spend = { credits: 1, reason: "A page" };
    const ask = async (caller: BackendCaller): Promise<Answer> => {
      const answer = await caller.post(`/v1/accounts/${id}/spends`, spend, "same");
      return answer.status === 503 ? ask(caller) : answer; // on a slow machine, a deadline of the store
    };
    const asked = [...callers, ...callers].map(ask);
    // By then all of them have arrived.
    for (const caller of callers) for (let turn = 0; turn < 5; turn++) await caller.get("/docs");
    await commit();
    const answers = await Promise.all(asked);
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(answers[0]?.status).toBe(200);
    expect(await balanceOf(id)).toBe(99_999);
  });

  it("are refused beyond 20,000 writes that wait, and not those of another backend", async () => {
    const { id } = await addAccount("busy");
    const spends = Array.from({ length: 1000 }, () => ({ account: id, credits: 1, reason: "A minute" }));
    const body = JSON.stringify({ spends });
    const refused: Answer[] = [];
    let spent: Promise<Answer> | undefined;
    const send = async (key: string) => {
      for (;;) {
        const answer = await meter.post("/v1/batches", body, key);
        if (answer.status === 200) return;
        refused.push(answer);
        // The queue is full: now the other backend asks, and the store goes on.
        spent ??= spendAndThaw();
        await spent;
        await sleep(100);
      }
    };
    const spend = async (): Promise<Answer> => {
      const answer = await worker.post(
        `/v1/accounts/${id}/spends`,
        { credits: 1, reason: "A page" },
        "spend",
      );
      return answer.status === 503 ? spend() : answer; // on a slow machine, a deadline of the store
    };
    const spendAndThaw = async () => {
      const asked = spend();
      for (let turn = 0; turn < 5; turn++) await worker.get("/docs");
      stage.thaw();
      return asked;
    };
    await worker.get("/v1/accounts"); // so that the keys are known
    stage.freeze();
    await Promise.all(Array.from({ length: 25 }, (_, at) => send(`batch ${at}`)));
    expect(refused.map(({ status }) => status)).toContain(429);
    for (const { status, headers, text } of refused) {
      expect([429, 503]).toContain(status);
      expect(headers["retry-after"]).toMatch(/^[1-9]/);
      expect(JSON.parse(text).error.code).toBe("unavailable");
    }
    expect((await spent)?.status).toBe(200);
    expect(await balanceOf(id)).toBe(74_999);
  });
});
