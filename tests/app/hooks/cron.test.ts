import { describe, expect, it } from "vitest";
import { startService, startStage } from "@/tests/support/block";
import { expectRefusal, expectStamp } from "@/tests/support/contract";
import { engines } from "@/tests/support/engines";
import { unconfigured } from "@/tests/support/unconfigured";

const secret = "a-secret-of-32-characters-or-so!";
const noSecret = {
  status: 401,
  code: "signed_out",
  message: "The secret is missing or not the right one.",
  hint: "Send 'Authorization: Bearer <CRON_SECRET>'.",
} as const;

describe.each(engines)("GET /hooks/cron on $name", async (engine) => {
  const stage = await startStage(engine);
  const service = await startService({ ...stage.environment, CRON_SECRET: `${secret}\n`, SIGN_IN: "local" });
  const call = (authorization?: string, method = "GET") =>
    service.ask("/hooks/cron", {
      method,
      headers: { "User-Agent": "vercel-cron/1.0", ...(authorization && { Authorization: authorization }) },
    });

  it("does what is due, for the secret alone", async () => {
    for (const [method, authorization] of [
      ["GET", `Bearer ${secret}`],
      ["HEAD", `bearer  ${secret}`],
    ] as const) {
      const answer = await call(authorization, method);
      expect(answer).toMatchObject({ status: 204, text: "" });
      expect(answer.headers["cache-control"]).toBe("no-store");
      expectStamp(service, answer);
    }
  });

  it.each([
    undefined,
    "Bearer",
    "Bearer ",
    "Bearer undefined",
    `Bearer ${secret}x`,
    `Bearer ${secret.slice(1)}`,
    secret,
    `Basic ${secret}`,
    `Bearer ${secret}, Bearer ${secret}`,
  ])("refuses %j", async (authorization) => {
    const answer = await call(authorization);
    expectRefusal(service, answer, noSecret);
    expect(answer.headers["www-authenticate"]).toBe('Bearer realm="corner-office"');
  });

  it("takes the secret from no query, and no POST", async () => {
    expectRefusal(service, await service.ask(`/hooks/cron?secret=${secret}`), noSecret);
    const posted = await call(`Bearer ${secret}`, "POST");
    expectRefusal(service, posted, { status: 405, code: "method_not_allowed" });
    expect(posted.headers.allow).toBe("GET, HEAD");
  });

  it("says what failed in the log, and that it comes again: 503", async () => {
    await stage.query("ALTER TABLE waitlist RENAME TO waitlist_away");
    const answer = await call(`Bearer ${secret}`);
    await stage.query("ALTER TABLE waitlist_away RENAME TO waitlist");
    expectRefusal(service, answer, {
      status: 503,
      code: "unavailable",
      message: "Not all that is due could be done.",
      hint: "The log says what failed. It is tried again with the next call.",
    });
    expect(answer.headers["retry-after"]).toMatch(/^\d+$/);
    expect((await call(`Bearer ${secret}`)).status).toBe(204);
  });

  it("answers several calls at once", async () => {
    const answers = await Promise.all(Array.from({ length: 5 }, () => call(`Bearer ${secret}`)));
    expect(answers.map(({ status }) => status)).toEqual([204, 204, 204, 204, 204]);
  });
});

it.each([undefined, "Bearer undefined", "Bearer "])(
  "GET /hooks/cron is an address like any that is none without CRON_SECRET, with %j",
  async (authorization) => {
    const service = await unconfigured();
    const headers = { ...(authorization && { Authorization: authorization }) };
    const answers = await Promise.all(
      ["/hooks/cron", "/hooks/none"].map((path) => service.ask(path, { headers })),
    );
    expect(answers.map(({ status }) => status)).toEqual([404, 404]);
    expect(answers[0]?.text).toBe(answers[1]?.text);
  },
);
