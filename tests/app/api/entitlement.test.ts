import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { dayMs } from "@/lib/config/durations";
import { operations } from "@/lib/http/operations";
import { between, expectAnswer, expectRefusal } from "@/tests/support/contract";
import { eventually } from "@/tests/support/databases";
import { engines, type Stage } from "@/tests/support/engines";
import { giveBack, lend } from "@/tests/support/lent-service";
import type { Service } from "@/tests/support/service";
import { unconfigured } from "@/tests/support/unconfigured";

const { entitlement } = operations;

describe.each(engines)("GET /api/entitlement on $name", (engine) => {
  let stage: Stage;
  let service: Service;

  beforeAll(async () => {
    ({ stage, service } = await lend(engine));
  });
  afterAll(() => giveBack(service));

  /** Adds an account and requests its entitlement. */
  async function askAs(email: string, ...terms: string[]) {
    await service.adminJson("account", "add", email, ...terms);
    return ask(await service.token(email));
  }

  const ask = (token: string) =>
    service.ask(entitlement.path, { headers: { Authorization: `Bearer ${token}` } });

  it("answers 200 to a licensed account, with a recheck after 10 to 15 minutes", async () => {
    const answer = await askAs("licensed@example.com", "--plan", "licensed", "--assistant-limit", "12");
    expect(expectAnswer(service, entitlement, answer, 200)).toEqual({
      ok: true,
      status: "licensed",
      assistantLimit: 12,
      recheckAfterSeconds: between(600, 900),
    });
    expect(answer.headers["cache-control"]).toBe("private, no-store");
  });

  it("answers 200 to a hobby account, without an assistant limit if none is set", async () => {
    const answer = await askAs("hobby@example.com", "--plan", "hobby");
    expect(expectAnswer(service, entitlement, answer, 200)).toEqual({
      ok: true,
      status: "hobby",
      recheckAfterSeconds: between(600, 900),
    });
  });

  it("answers 200 to a trial, with its end", async () => {
    const trialEndsAt = new Date(Date.now() + 3 * dayMs).toISOString();
    const answer = await askAs("trial@example.com", "--trial-ends", trialEndsAt, "--assistant-limit", "0");
    expect(expectAnswer(service, entitlement, answer, 200)).toEqual({
      ok: true,
      status: "trial",
      trialEndsAt,
      assistantLimit: 0,
      recheckAfterSeconds: between(600, 900),
    });
  });

  it("answers 403 trial_ended when the trial has ended", async () => {
    const answer = await askAs("ended@example.com", "--trial-ends", "2026-01-01");
    expectAnswer(service, entitlement, answer, 403);
    expectRefusal(service, answer, {
      status: 403,
      code: "trial_ended",
      otherFields: { ok: false, status: "trial-ended", message: "The trial of this account has ended." },
    });
  });

  it("reflects the operator's changes immediately", async () => {
    await service.adminJson("account", "add", "moving@example.com", "--trial-ends", "2026-01-01");
    const token = await service.token("moving@example.com");
    expect((await ask(token)).status).toBe(403);
    await service.adminJson("account", "set", "moving@example.com", "--plan", "hobby");
    expect((await ask(token)).status).toBe(200);
  });

  const signedOut = { ok: false, status: "signed-out", message: "You are not signed in." };

  it("answers 401 without a session, with a challenge without an error", async () => {
    const answer = await service.ask(entitlement.path);
    expectAnswer(service, entitlement, answer, 401);
    expectRefusal(service, answer, { status: 401, code: "signed_out", otherFields: signedOut });
    expect(answer.headers["www-authenticate"]).toBe('Bearer realm="corner-office"');
  });

  it("answers 401 to an invalid token, with error=invalid_token in the challenge", async () => {
    const answer = await ask("not-a-token");
    expectRefusal(service, answer, { status: 401, code: "signed_out", otherFields: signedOut });
    expect(answer.headers["www-authenticate"]).toBe('Bearer realm="corner-office", error="invalid_token"');
  });

  it("reads the session from the bearer token, whose scheme is case-insensitive, or else from the cookie", async () => {
    const token = await service.token("licensed@example.com");
    const sent = [
      { Authorization: `Bearer ${token}` },
      { Authorization: `bearer ${token}` },
      { Authorization: `BEARER  ${token}` },
      { Cookie: `__session=${token}` },
      { Cookie: `theme=dark; __session=${token}; x=y` },
      { Authorization: "Basic dXNlcjpwYXNz", Cookie: `__session=${token}` },
      { Authorization: `Bearer ${token}`, Cookie: "__session=bad" },
    ];
    for (const headers of sent) {
      expect(
        (await service.ask(entitlement.path, { headers })).status,
        JSON.stringify(Object.keys(headers)),
      ).toBe(200);
    }
  });

  it("does not fall back from an invalid bearer token to a valid cookie", async () => {
    const Cookie = `__session=${await service.token("licensed@example.com")}`;
    for (const Authorization of ["Bearer bad", "Bearer", "Bearer ", `Bearer ${"x".repeat(8193)}`]) {
      expect((await service.ask(entitlement.path, { headers: { Authorization, Cookie } })).status).toBe(401);
    }
  });

  it("treats two Authorization fields, and a scheme without a space, as an invalid token", async () => {
    const token = await service.token("licensed@example.com");
    const bearer = `Bearer ${token}`;
    for (const Authorization of [
      [bearer, bearer],
      [bearer, "Basic dXNlcjpwYXNz"],
      ["Basic dXNlcjpwYXNz", bearer],
      `Bearer\t${token}`,
      `Bearer,${token}`,
    ]) {
      const headers = { Authorization, Cookie: `__session=${token}` };
      const answer = await service.ask(entitlement.path, { headers });
      expect(answer.status, String(Authorization)).toBe(401);
      expect(answer.headers["www-authenticate"]).toBe('Bearer realm="corner-office", error="invalid_token"');
    }
  });

  it("ignores a token without a scheme, in the query or in another cookie", async () => {
    const token = await service.token("licensed@example.com");
    const asked = [
      service.ask(entitlement.path, { headers: { Authorization: token } }),
      service.ask(`${entitlement.path}?token=${token}&access_token=${token}`),
      service.ask(entitlement.path, { headers: { Cookie: `session=${token}; x__session=${token}` } }),
    ];
    for (const answer of await Promise.all(asked)) {
      expect(answer.status).toBe(401);
      expect(answer.headers["www-authenticate"]).toBe('Bearer realm="corner-office"');
    }
  });

  it("answers 401 to a token whose session has ended", async () => {
    await service.adminJson("account", "add", "leaving@example.com", "--plan", "licensed");
    const token = await service.token("leaving@example.com");
    expect((await ask(token)).status).toBe(200);
    const { sid } = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
    await stage.query(`DELETE FROM local_sessions WHERE id = '${sid}'`);
    const answer = await ask(token);
    expectRefusal(service, answer, { status: 401, code: "signed_out", otherFields: signedOut });
  });

  it.each([
    ["whose record is gone", "DELETE FROM accounts WHERE email = 'odd@example.com'"],
    ["whose record does not parse", "UPDATE accounts SET plan = 'platinum' WHERE email = 'odd@example.com'"],
    [
      "on a trial without an end",
      "UPDATE accounts SET plan = 'trial', trial_ends_at_ms = NULL WHERE email = 'odd@example.com'",
    ],
  ])("denies a signed-in account %s: 403 forbidden", async (_, sql) => {
    await service.admin("account", "delete", "odd@example.com");
    await service.adminJson("account", "add", "odd@example.com", "--plan", "licensed");
    const token = await service.token("odd@example.com");
    await stage.query(sql);
    const answer = await ask(token);
    expectAnswer(service, entitlement, answer, 403);
    const message = "This account could not be read, so it may not run.";
    expectRefusal(service, answer, {
      status: 403,
      code: "forbidden",
      otherFields: { ok: false, status: "invalid", message },
    });
  });

  it("answers 503, never 401, while the store fails, and 200 when it has recovered", async () => {
    const token = await service.token("licensed@example.com");
    await stage.query("ALTER TABLE accounts RENAME TO accounts_away");
    const answer = await ask(token);
    expectAnswer(service, entitlement, answer, 503);
    const message = "The service cannot answer this at the moment.";
    expectRefusal(service, answer, {
      status: 503,
      code: "unavailable",
      otherFields: { ok: false, status: "unavailable", message },
    });
    expect(Number(answer.headers["retry-after"])).toEqual(between(5, 30));
    await stage.query("ALTER TABLE accounts_away RENAME TO accounts");
    expect((await ask(token)).status).toBe(200);
    await eventually(() => expect(service.takeErrors()).toEqual(["an account could not be read"]));
  });

  it("answers within its timeout while the store is frozen, and 200 when it has recovered", async () => {
    const token = await service.token("licensed@example.com");
    stage.freeze();
    const startedAtMs = Date.now();
    const answer = await ask(token);
    const tookMs = Date.now() - startedAtMs;
    // The embedded store can read while another process writes.
    expect(answer.status).toBe(stage.freezeStopsReads ? 503 : 200);
    expect(tookMs).toBeLessThan(2500);
    stage.thaw();
    expect((await ask(token)).status).toBe(200);
    if (stage.freezeStopsReads)
      await eventually(() => expect(service.takeErrors()).toEqual(["an account could not be read"]));
  });
});

describe("GET /api/entitlement without sign-in", () => {
  it("answers 503 unconfigured, with and without a token, also in production", async () => {
    const service = await unconfigured();
    const headers = { Authorization: "Bearer x" };
    for (const answer of [
      await service.ask(entitlement.path),
      await service.ask(entitlement.path, { headers }),
    ]) {
      expectAnswer(service, entitlement, answer, 503);
      const message = "Sign-in is not set up in this deployment.";
      expectRefusal(service, answer, {
        status: 503,
        code: "not_configured",
        otherFields: { ok: false, status: "unconfigured", message },
      });
      expect(answer.headers).not.toHaveProperty("retry-after");
    }
  });
});
