import { describe, expect, it } from "vitest";
import { operations } from "@/lib/http/register/operations";
import { borrowService } from "@/tests/support/block";
import { between, expectAnswer, expectRefusal } from "@/tests/support/contract";
import { eventually } from "@/tests/support/databases";
import { everyEngine } from "@/tests/support/engines";
import { unconfigured } from "@/tests/support/unconfigured";

const { creditsBalance } = operations;

describe.each(everyEngine)("GET /api/credits/balance on $name", async (engine) => {
  const { stage, service } = await borrowService(engine);
  await service.adminJson("account", "add", "ceo@example.com", "--plan", "licensed", "--credits", "1250.5");
  const token = await service.token("ceo@example.com");

  const ask = () => service.ask(creditsBalance.path, { headers: { Authorization: `Bearer ${token}` } });

  it("answers the balance as a JSON number, private and not stored", async () => {
    const answer = await ask();
    expect(expectAnswer(service, creditsBalance, answer, 200)).toEqual({ credits: 1250.5 });
    expect(answer.text).toBe('{"credits":1250.5}');
  });

  it("stays exact over many small entries", async () => {
    for (let n = 0; n < 3; n++) await service.adminJson("credits", "add", "ceo@example.com", "0.1");
    await service.adminJson("credits", "add", "ceo@example.com", "-0.001");
    expect((await ask()).text).toBe('{"credits":1250.799}');
    await service.adminJson("account", "set", "ceo@example.com", "--credits", "1250.5");
  });

  it("never goes below zero, because the store refuses the entry", async () => {
    const refused = await service.admin("credits", "add", "ceo@example.com", "-1250.501");
    expect(refused.code).toBe(1);
    expect((await ask()).text).toBe('{"credits":1250.5}');
    await expect(stage.query("UPDATE accounts SET credit_thousandths = -1")).rejects.toThrow();
    await service.adminJson("credits", "add", "ceo@example.com", "-1250.5");
    expect((await ask()).text).toBe('{"credits":0}');
    await service.adminJson("credits", "add", "ceo@example.com", "1250.5");
  });

  it("keeps all entries of concurrent writes", async () => {
    await Promise.all(
      Array.from({ length: 6 }, () => service.adminJson("credits", "add", "ceo@example.com", "1")),
    );
    expect((await ask()).text).toBe('{"credits":1256.5}');
    const [sum] = await stage.query("SELECT CAST(SUM(thousandths) AS integer) AS total FROM credit_entries");
    expect(sum?.total).toBe(1_256_500);
  });

  it("answers 401 without a session", async () => {
    const answer = await service.ask(creditsBalance.path);
    expectRefusal(service, answer, { status: 401, code: "signed_out" });
    expect(answer.headers["www-authenticate"]).toBe('Bearer realm="corner-office"');
  });

  it("answers 503 while the store fails, never 401", async () => {
    await stage.query("ALTER TABLE accounts RENAME TO accounts_away");
    const answer = await ask();
    expectRefusal(service, answer, { status: 503, code: "balance_unavailable" });
    expect(Number(answer.headers["retry-after"])).toEqual(between(5, 30));
    await stage.query("ALTER TABLE accounts_away RENAME TO accounts");
    expect((await ask()).status).toBe(200);
    await eventually(() => expect(service.takeErrors()).toEqual(["an account could not be read"]));
  });

  it("answers 503 if the account's record is invalid", async () => {
    await stage.query("UPDATE accounts SET plan = 'platinum'");
    const hint =
      "If you have just accepted an invitation, try again in a moment. Otherwise write to help@example.com about your account.";
    expectRefusal(service, await ask(), { status: 503, code: "balance_unavailable", hint });
    await stage.query("UPDATE accounts SET plan = 'licensed'");
  });
});

it("GET /api/credits/balance without sign-in answers 503, because after a 401 clients would start a sign-in that cannot succeed", async () => {
  const service = await unconfigured();
  expectRefusal(service, await service.ask(creditsBalance.path), {
    status: 503,
    code: "balance_unavailable",
    hint: "Ask the operator of this service to set up sign-in. Until then, trying again does not help.",
  });
});
