import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { BackendCaller, withBackendApi } from "@/tests/support/backend-caller";
import { startService, startStage } from "@/tests/support/block";
import { engines } from "@/tests/support/engines";
import { createFolder } from "@/tests/support/leash";

const minuteMs = 60_000;

describe.each(engines)("a check that spends on $name", async (engine) => {
  const stage = await startStage(engine);
  const clock = join(createFolder(), "clock");
  const step = (aheadMs: number) => writeFileSync(clock, String(aheadMs));
  step(0);
  const service = await startService(
    await withBackendApi({
      ...stage.environment,
      NODE_OPTIONS: "--import ./tests/faults/wall-clock.mjs",
      TEST_WALL_CLOCK: clock,
    }),
  );
  const worker = await BackendCaller.add(service, "worker");

  let people = 0;
  const addOwner = async () => {
    const { id, email } = await service.adminJson<{ id: string; email: string }>(
      ...["account", "add", `owner${people++}@example.com`, "--credits", "3"],
    );
    return { id, token: await service.token(email) };
  };

  /** What a check is answered while this change, of which it has seen nothing, is not yet committed. */
  const checkDuring = async (token: string, cost: object, sql: string, meanwhile?: () => void) => {
    const commit = await stage.change(sql);
    const asked = worker.post("/v1/checks", { token, ...cost });
    // By then it has read that the owner may run, and waits for the change.
    for (let turn = 0; turn < 5; turn++) expect(await service.statusFor(token)).toBe(200);
    meanwhile?.();
    await commit();
    const { status, text } = await asked;
    return { status, ...JSON.parse(text) };
  };
  const spend = { spend: { credits: 1, reason: "A page" } };
  const hold = { hold: { credits: 1, reason: "A film", expiresInSeconds: 60 } };
  const creditsOf = async (id: string) => {
    const { balance, held } = JSON.parse((await worker.get(`/v1/accounts/${id}`)).text);
    return { balance, held };
  };
  const unspent = { balance: 3, held: 0 };

  it.each([
    ["spends", spend],
    ["holds", hold],
  ])("%s nothing for an owner whose trial an operator ends meanwhile", async (_, cost) => {
    const { id, token } = await addOwner();
    const ended = `UPDATE accounts SET trial_ends_at_ms = 1 WHERE id = '${id}'`;
    expect(await checkDuring(token, cost, ended)).toMatchObject({
      status: "trial-ended",
      ok: false,
      error: { code: "trial_ended" },
    });
    expect(await creditsOf(id)).toEqual(unspent);
  });

  it("spends nothing for a session that ends meanwhile", async () => {
    const { id, token } = await addOwner();
    const ended = `UPDATE local_sessions SET ended_as = 'sign-out' WHERE account_id = '${id}'`;
    expect(await checkDuring(token, spend, ended)).toMatchObject({
      status: "signed-out",
      error: { code: "signed_out" },
    });
    expect(await creditsOf(id)).toEqual(unspent);
  });

  it("spends nothing for a trial that ends by the clock while it waits for the account", async () => {
    const { id, token } = await addOwner();
    await stage.query(`UPDATE accounts SET trial_ends_at_ms = ${Date.now() + minuteMs} WHERE id = '${id}'`);
    const locked = `UPDATE accounts SET created_at_ms = created_at_ms WHERE id = '${id}'`;
    const answer = await checkDuring(token, spend, locked, () => step(2 * minuteMs));
    step(0);
    expect(answer).toMatchObject({ status: "trial-ended", error: { code: "trial_ended" } });
    expect(await creditsOf(id)).toEqual(unspent);
  });

  it("says the terms with which it has spent", async () => {
    const { id, token } = await addOwner();
    const given = `UPDATE accounts SET plan = 'licensed', trial_ends_at_ms = null, assistant_limit = 7 WHERE id = '${id}'`;
    expect(await checkDuring(token, spend, given)).toMatchObject({
      ok: true,
      status: "licensed",
      assistantLimit: 7,
      entry: { credits: -1, balance: 2 },
    });
  });

  it("is answered again as at first, once the trial has ended", async () => {
    const { id, token } = await addOwner();
    const first = await worker.post("/v1/checks", { token, ...spend }, "once");
    await stage.query(`UPDATE accounts SET trial_ends_at_ms = 1 WHERE id = '${id}'`);
    expect((await worker.post("/v1/checks", { token, ...spend }, "once")).text).toBe(first.text);
    expect((await worker.post("/v1/checks", { token, ...hold }, "once")).status).toBe(422);
    expect(await creditsOf(id)).toEqual({ balance: 2, held: 0 });
  });
});
