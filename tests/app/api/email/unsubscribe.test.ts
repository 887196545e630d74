import { describe, expect, it } from "vitest";
import { operations } from "@/lib/http/register/operations";
import { startService, startStage } from "@/tests/support/block";
import { expectAnswer, expectRefusal } from "@/tests/support/contract";
import { laterStates } from "@/tests/support/due-mails";
import { everyEngine } from "@/tests/support/engines";

const { unsubscribe } = operations;

describe.each(everyEngine)("POST /api/email/unsubscribe on $name", async (engine) => {
  const stage = await startStage(engine, { isEmpty: true });
  const service = await startService(stage.environment, { expectErrors: true });
  let number = 0;

  async function recipient() {
    const email = `reader${++number}@example.com`;
    await service.adminJson("account", "add", email);
    return { email, target: await service.unsubscribePath(email), states: () => laterStates(stage, email) };
  }

  const post = (target: string, body?: string | Buffer, headers = {}) =>
    service.ask(target, { method: "POST", headers, ...(body === undefined ? {} : { body }) });

  const scheduled = ["scheduled"];
  const stopped = ["stopped"];

  it("stops the later emails and confirms it in one line of plain text, also when repeated", async () => {
    const { target, states } = await recipient();
    expect(await states()).toEqual(scheduled);
    for (let n = 0; n < 3; n++) {
      const answer = await post(target, "List-Unsubscribe=One-Click");
      expect(expectAnswer(service, unsubscribe, answer, 200)).toBe(
        "The later onboarding emails are stopped.\n",
      );
      expect(answer.headers["content-type"]).toBe("text/plain; charset=utf-8");
      expect(answer.headers).not.toHaveProperty("set-cookie");
      expect(answer.headers).not.toHaveProperty("location");
    }
    expect(await states()).toEqual(stopped);
  });

  const multipart =
    '--b\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--b--\r\n';
  it.each([
    [
      "Gmail's urlencoded body",
      "List-Unsubscribe=One-Click",
      { "Content-Type": "application/x-www-form-urlencoded" },
    ],
    ["the RFC's multipart body", multipart, { "Content-Type": "multipart/form-data; boundary=b" }],
    ["no body", undefined, {}],
    ["a body as long as may be", "x".repeat(4 * 1024), { "Content-Type": "text/plain" }],
    ["a foreign Origin and cookies", "", { Origin: "https://evil.example", Cookie: "__session=x" }],
    ["a bearer token that is bad", "", { Authorization: "Bearer bad" }],
  ])("accepts %s", async (_, body, headers) => {
    const { target, states } = await recipient();
    expect((await post(target, body, headers)).status).toBe(200);
    expect(await states()).toEqual(stopped);
  });

  it("ignores other parameters", async () => {
    const { target, states } = await recipient();
    expect((await post(`${target}&utm_source=mail&x`)).status).toBe(200);
    expect(await states()).toEqual(stopped);
  });

  it("answers 400 to a token that is missing, repeated or altered in any byte", async () => {
    const { target, states } = await recipient();
    const [path, token = ""] = target.split("?token=");
    const altered = [...token].map((character, at) => {
      const other = character === "A" ? "B" : "A";
      return `${path}?token=${token.slice(0, at)}${other}${token.slice(at + 1)}`;
    });
    const odd = [
      path,
      `${path}?token=`,
      `${path}?Token=${token}`,
      `${target}&token=${token}`,
      `${target}%20`,
      `${target}.`,
      `${target}=`,
      `${path}?token=${token.slice(0, -1)}`,
      `${path}?token=${"x".repeat(8000)}`,
    ];
    for (const bad of [...altered, ...odd]) {
      expectRefusal(service, await post(bad ?? ""), { status: 400, code: "invalid_token" });
    }
    expect(await states()).toEqual(scheduled);
  });

  it("does not unsubscribe on GET or HEAD, which link scanners send", async () => {
    const { target, states } = await recipient();
    for (const method of ["GET", "HEAD"]) {
      const answer = await service.ask(target, { method });
      expect(answer.status).toBe(405);
      expect(answer.headers.allow).toBe("POST, OPTIONS");
    }
    expect(await states()).toEqual(scheduled);
  });

  it("answers 413 to a longer body, counted while it arrives", async () => {
    const { target, states } = await recipient();
    const message = "The body is over 4 KiB.";
    const errorParts = { status: 413, code: "too_large", message } as const;
    const long = "x".repeat(4 * 1024 + 1);
    expectRefusal(service, await post(target, long), errorParts);
    expectRefusal(service, await post(target, long, { "Transfer-Encoding": "chunked" }), errorParts);
    expect(await states()).toEqual(scheduled);
  });

  it("answers 200 to a valid link of a deleted account", async () => {
    const { email, target } = await recipient();
    await service.adminJson("account", "delete", email);
    expect((await post(target)).status).toBe(200);
  });

  it("also applies to a new account with the same email", async () => {
    const { email, target, states } = await recipient();
    await post(target);
    await service.adminJson("account", "delete", email);
    await service.adminJson("account", "add", email.toUpperCase());
    expect(await states()).toEqual(stopped);
  });

  it("does not stop the mails of other accounts", async () => {
    const [one, other] = [await recipient(), await recipient()];
    await post(one.target);
    expect(await other.states()).toEqual(scheduled);
  });

  it("past 600 a minute from one address, still tells an invalid link, and what became of a valid one", async () => {
    const { target, states } = await recipient();
    const from = "127.60.0.1";
    const used = (path: string, address = from) => service.ask(path, { method: "POST", from: address });
    const invalid = { status: 400, code: "invalid_token" } as const;
    expectRefusal(service, await used(`${target}x`), invalid);
    // They count before their body is read.
    const tooLarge = { method: "POST", from, body: "x".repeat(4 * 1024 + 1) };
    for (let left = 599; left > 0; left -= 100) {
      const others = Array.from({ length: Math.min(left, 100) }, () => service.ask(target, tooLarge));
      expect(new Set((await Promise.all(others)).map(({ status }) => status))).toEqual(new Set([413]));
    }
    expectRefusal(service, await used(`${target}x`), invalid);
    const refused = await used(target);
    expectRefusal(service, refused, {
      status: 502,
      code: "upstream_failed",
      message:
        "Too many links were used from this address in a minute, so the later emails are not stopped yet.",
      hint: "Use the same link again after the seconds in Retry-After. It stays valid.",
    });
    expect(refused.headers["retry-after"]).toMatch(/^[1-9]\d?$/);
    expect(await states()).toEqual(scheduled);
    expect((await used(target, "127.60.0.2")).status).toBe(200);
    expect(await states()).toEqual(stopped);
  });

  it("answers 502 and changes nothing if the store fails halfway", async () => {
    const { target, states } = await recipient();
    const before = await stage.query("SELECT email_hash FROM email_suppressions");
    await stage.query("ALTER TABLE onboarding_emails RENAME TO onboarding_emails_away");
    expectRefusal(service, await post(target), { status: 502, code: "upstream_failed" });
    await stage.query("ALTER TABLE onboarding_emails_away RENAME TO onboarding_emails");
    expect(await states()).toEqual(scheduled);
    expect(await stage.query("SELECT email_hash FROM email_suppressions")).toEqual(before);
    expect((await post(target)).status).toBe(200);
    expect(await states()).toEqual(stopped);
  });

  it("answers 502 within its timeout while the store is frozen, and a retry works", async () => {
    const { target, states } = await recipient();
    stage.freeze();
    const startedAtMs = Date.now();
    expectRefusal(service, await post(target), { status: 502, code: "upstream_failed" });
    expect(Date.now() - startedAtMs).toBeLessThan(3000);
    stage.thaw();
    expect((await post(target)).status).toBe(200);
    expect(await states()).toEqual(stopped);
  });

  it("keeps the emails stopped after a kill -9", async () => {
    if (!service.isRunning) await service.run();
    const { target, states } = await recipient();
    expect((await post(target)).status).toBe(200);
    await service.kill();
    expect(await states()).toEqual(stopped);
  });
});
