import { decodeJwt } from "jose";
import { describe, expect, it } from "vitest";
import { dayMs } from "@/lib/config/durations";
import { type ErrorCode, errorCatalogue } from "@/lib/http/errors";
import { operations } from "@/lib/http/register/operations";
import { borrowService } from "@/tests/support/block";
import { between, expectAnswer, expectRefusal } from "@/tests/support/contract";
import { eventually } from "@/tests/support/databases";
import { documentedRefusal } from "@/tests/support/documented";
import { everyEngine } from "@/tests/support/engines";
import type { Answer, Service } from "@/tests/support/service";
import { unconfigured } from "@/tests/support/unconfigured";

const { entitlement } = operations;

/** Checks that an answer denies, in the fields of the entitlement and in those of every error. */
function expectDenial(of: Service, answer: Answer, status: number, code: ErrorCode, inWords: string): void {
  const { message } = errorCatalogue[code];
  expectRefusal(of, answer, { status, code, otherFields: { ok: false, status: inWords, message } });
}

describe.each(everyEngine)("GET /api/entitlement on $name", async (engine) => {
  const { stage, service } = await borrowService(engine);

  /** Adds an account and requests its entitlement. */
  async function askAs(email: string, ...terms: string[]) {
    await service.adminJson("account", "add", email, ...terms);
    return ask(await service.token(email));
  }

  const ask = (token: string) =>
    service.ask(entitlement.path, { headers: { Authorization: `Bearer ${token}` } });

  const trialEndsAt = new Date(Date.now() + 3 * dayMs).toISOString();
  it.each<[string, string[], { status: string; [field: string]: unknown }]>([
    [
      "a licensed account",
      ["--plan", "licensed", "--assistant-limit", "12"],
      { status: "licensed", plan: "licensed", assistantLimit: 12, limits: { assistants: 12 } },
    ],
    [
      "a hobby account, without an assistant limit if none is set",
      ["--plan", "hobby"],
      { status: "hobby", plan: "hobby", limits: {} },
    ],
    [
      "a trial, with its end",
      ["--trial-ends", trialEndsAt, "--assistant-limit", "0"],
      { status: "trial", plan: "trial", trialEndsAt, assistantLimit: 0, limits: { assistants: 0 } },
    ],
  ])("answers 200 to %s, with a recheck after 10 to 15 minutes", async (_, terms, told) => {
    const answer = await askAs(`${told.status}@example.com`, ...terms);
    const recheckAfterSeconds = between(600, 900);
    expect(expectAnswer(service, entitlement, answer, 200)).toEqual({
      ok: true,
      ...told,
      features: [],
      recheckAfterSeconds,
    });
  });

  it("answers 403 trial_ended when the trial has ended", async () => {
    const answer = await askAs("ended@example.com", "--trial-ends", "2026-01-01");
    expectDenial(service, answer, 403, "trial_ended", "trial-ended");
    expect(JSON.parse(answer.text).error).toEqual(await documentedRefusal(service, "403 trial_ended"));
  });

  it("reflects the operator's changes immediately", async () => {
    await service.adminJson("account", "add", "moving@example.com", "--trial-ends", "2026-01-01");
    const token = await service.token("moving@example.com");
    expect((await ask(token)).status).toBe(403);
    await service.adminJson("account", "set", "moving@example.com", "--plan", "hobby");
    expect((await ask(token)).status).toBe(200);
  });

  it("answers 401 without a session, with a challenge without an error", async () => {
    const answer = await service.ask(entitlement.path);
    expectDenial(service, answer, 401, "signed_out", "signed-out");
    expect(answer.headers["www-authenticate"]).toBe('Bearer realm="corner-office"');
  });

  it("answers 401 to an invalid token, with error=invalid_token in the challenge", async () => {
    const answer = await ask("not-a-token");
    expectDenial(service, answer, 401, "signed_out", "signed-out");
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

  // Remix and Firebase Hosting use the name as well, and a cookie with a Domain comes to every host of it.
  it("finds the session among four cookies of its name, and none if two are of different accounts", async () => {
    const [token, another] = [
      await service.token("licensed@example.com"),
      await service.token("hobby@example.com"),
    ];
    const askWith = async (...values: string[]) => {
      const Cookie = values.map((value) => `__session=${value}`).join("; ");
      return (await service.ask(entitlement.path, { headers: { Cookie } })).status;
    };
    const others = ["eyJvdGhlciI6MX0=.c2ln", "x"];
    for (const values of [
      [...others, token],
      [token, ...others],
      [token, token],
      [...others, "y", token],
    ])
      expect(await askWith(...values), String(values.indexOf(token))).toBe(200);
    for (const values of [
      [token, another],
      [another, ...others, token],
      [...others, "y", "z", token],
      others,
    ])
      expect(await askWith(...values)).toBe(401);
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
    await stage.query(`DELETE FROM local_sessions WHERE id = '${decodeJwt(token).sid}'`);
    expectDenial(service, await ask(token), 401, "signed_out", "signed-out");
  });

  it.each([
    ["whose record is gone", "DELETE FROM accounts WHERE email = 'odd@example.com'"],
    ["whose record does not parse", "UPDATE accounts SET plan = 'platinum' WHERE email = 'odd@example.com'"],
    ["on a trial without an end", "UPDATE accounts SET plan = 'trial' WHERE email = 'odd@example.com'"],
    [
      "on a trial that ends after the year 9999",
      "UPDATE accounts SET plan = 'trial', trial_ends_at_ms = 253402300800000 WHERE email = 'odd@example.com'",
    ],
  ])("denies a signed-in account %s: 403 forbidden", async (_, sql) => {
    await service.admin("account", "delete", "odd@example.com");
    await service.adminJson("account", "add", "odd@example.com", "--plan", "licensed");
    const token = await service.token("odd@example.com");
    await stage.query(sql);
    expectDenial(service, await ask(token), 403, "forbidden", "invalid");
  });

  it("answers 503, never 401, while the store fails, and 200 when it has recovered", async () => {
    const token = await service.token("licensed@example.com");
    await stage.query("ALTER TABLE accounts RENAME TO accounts_away");
    const answer = await ask(token);
    expectDenial(service, answer, 503, "unavailable", "unavailable");
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

it("GET /api/entitlement without sign-in answers 503 unconfigured, with and without a token, also in production", async () => {
  const service = await unconfigured();
  const headers = { Authorization: "Bearer x" };
  for (const answer of [
    await service.ask(entitlement.path),
    await service.ask(entitlement.path, { headers }),
  ]) {
    expectDenial(service, answer, 503, "not_configured", "unconfigured");
    expect(answer.headers).not.toHaveProperty("retry-after");
  }
});
