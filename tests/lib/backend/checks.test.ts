import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { BackendCaller, withBackendApi } from "@/tests/support/backend-caller";
import { startService, startStage } from "@/tests/support/block";
import { Browser } from "@/tests/support/browser";
import { engines } from "@/tests/support/engines";
import { makeKeyHolder } from "@/tests/support/key-holder";
import { createFolder } from "@/tests/support/leash";
import { authorizePath, redeemCode, redirectUri } from "@/tests/support/oauth-libraries";
import { answerApp } from "@/tests/support/owner";

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

  it("is refused a token that is bound to a key, unless it passes the proof on that came with it", async () => {
    const { email } = await service.adminJson<{ email: string }>("account", "add", "bound@example.com");
    const owner = await Browser.signIn(service, email);
    const back = await answerApp(owner, service, service.url + authorizePath("native", redirectUri));
    const holder = makeKeyHolder(service.url);
    const dpop = holder.prove("POST", "/oauth/token");
    const { text } = await redeemCode(service, "native", redirectUri, back, {}, { dpop });
    const token: string = JSON.parse(text).access_token;
    // To an address of the operator's own.
    const url = "https://work.example.com/pages";
    const jwt = holder.prove("POST", "", token, { claims: { htu: url } });
    const check = async (proof?: object) => {
      const answer = await worker.post("/v1/checks", { token, ...(proof && { proof }) });
      return [answer.status, answer.headers["www-authenticate"]];
    };
    const challenge = (error: string, description: string) =>
      `DPoP realm="corner-office", error="${error}", error_description="${description}", algs="ES256 Ed25519 EdDSA"`;
    expect(await check()).toEqual([
      401,
      challenge("invalid_token", "The token is bound to a key: send it as DPoP, with a proof"),
    ]);
    // A backend may ask again about the same request.
    for (const _ of [1, 2])
      expect(await check({ jwt, method: "POST", url: `${url}?a=b` })).toEqual([200, undefined]);
    expect(await check({ jwt, method: "GET", url })).toEqual([
      401,
      challenge("invalid_dpop_proof", "htm is not GET"),
    ]);
    expect(await check({ jwt, method: "POST", url: "https://other.example.com/pages" })).toEqual([
      401,
      challenge("invalid_dpop_proof", "htu is not https://other.example.com/pages"),
    ]);
    expect((await check({ jwt, method: 'P"', url }))[0]).toBe(400);
    const { text: unproved } = await worker.post("/v1/checks", { token });
    expect(JSON.parse(unproved).error.hint).toBe(
      "The token is bound to a key: send it as DPoP, with a proof.",
    );
  });

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
    await stage.query(
      `UPDATE accounts SET trial_ends_at_ms = ${Date.now() + minuteMs / 2} WHERE id = '${id}'`,
    );
    const locked = `UPDATE accounts SET created_at_ms = created_at_ms WHERE id = '${id}'`;
    // The assertion still counts then, in case the machine is so slow that it has not been read yet.
    const answer = await checkDuring(token, spend, locked, () => step(0.75 * minuteMs));
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
