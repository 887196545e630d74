import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { operations } from "@/lib/http/operations";
import { expectAnswer, expectRefusal } from "@/tests/support/contract";
import { engines, type Stage } from "@/tests/support/engines";
import { Service } from "@/tests/support/service";

const { unsubscribe } = operations;

describe.each(engines)("POST /api/email/unsubscribe on $name", (engine) => {
  let stage: Stage;
  let service: Service;
  let number = 0;
  const older = "o".repeat(32);

  beforeAll(async () => {
    stage = await engine.prepare({ isEmpty: true });
    service = await Service.start({
      ...stage.environment,
      APP_SECRET: "n".repeat(32),
      APP_SECRET_PREVIOUS: older,
    });
  });
  afterAll(async () => {
    await service.stop({ expectErrors: true });
    await stage.clear();
  });

  /** A new account, and how its later mails stand: the first one is due at once, and sent whenever it is. */
  async function recipient() {
    const email = `reader${++number}@example.com`;
    await service.adminJson("account", "add", email);
    const { url } = await service.adminJson<{ url: string }>("emails", "unsubscribe-link", email);
    const states = async () => {
      const mails = await service.adminJson<{ state: string }[]>("emails", "list", email);
      return mails.slice(1).map(({ state }) => state);
    };
    const { pathname, search } = new URL(url);
    return { email, url, target: pathname + search, states };
  }

  const post = (target: string, body?: string | Buffer, headers = {}) =>
    service.ask(target, { method: "POST", headers, ...(body === undefined ? {} : { body }) });

  const scheduled = Array(4).fill("scheduled");
  const stopped = Array(4).fill("stopped");

  it("stops the later emails and says so in one line of plain text, as often as it is asked", async () => {
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

  it("refuses a token that is missing, doubled or altered in any byte: 400, and nothing changes", async () => {
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

  it("never unsubscribes by GET or HEAD, which link scanners send", async () => {
    const { target, states } = await recipient();
    for (const method of ["GET", "HEAD"]) {
      const answer = await service.ask(target, { method });
      expect(answer.status).toBe(405);
      expect(answer.headers.allow).toBe("POST, OPTIONS");
    }
    expect(await states()).toEqual(scheduled);
  });

  it("refuses a longer body with 413, counted as it comes, and nothing changes", async () => {
    const { target, states } = await recipient();
    const message = "The body is over 4 KiB.";
    const errorParts = { status: 413, code: "too_large", message } as const;
    const long = "x".repeat(4 * 1024 + 1);
    expectRefusal(service, await post(target, long), errorParts);
    expectRefusal(service, await post(target, long, { "Transfer-Encoding": "chunked" }), errorParts);
    expect(await states()).toEqual(scheduled);
  });

  it("does not wait for the rest of an endless body", async () => {
    const { target } = await recipient();
    const received = await new Promise<string>((resolve) => {
      let text = "";
      const socket = connect(service.port, "127.0.0.1", () => {
        socket.write(`POST ${target} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n`);
        socket.write(`2000\r\n${"x".repeat(0x2000)}\r\n`);
      });
      socket.on("data", (chunk) => {
        text += chunk;
      });
      socket.on("close", () => resolve(text));
      socket.on("error", () => {});
    });
    expect(received).toMatch(/^HTTP\/1\.1 413 /);
    expect(received.toLowerCase()).toContain("\r\nconnection: close\r\n");
  });

  it("answers 200 to a valid link whose account is gone", async () => {
    const { email, target } = await recipient();
    await service.adminJson("account", "delete", email);
    expect((await post(target)).status).toBe(200);
  });

  it("outlives the account: one added again with that email gets no mails", async () => {
    const { email, target, states } = await recipient();
    await post(target);
    await service.adminJson("account", "delete", email);
    await service.adminJson("account", "add", email.toUpperCase());
    expect(await states()).toEqual(stopped);
  });

  it("leaves the mails of others alone", async () => {
    const [one, other] = [await recipient(), await recipient()];
    await post(one.target);
    expect(await other.states()).toEqual(scheduled);
  });

  it("answers 502 when the store fails halfway, and nothing is half done", async () => {
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

  it("answers 502 within its deadline while the store is frozen, and the retry works", async () => {
    const { target, states } = await recipient();
    stage.freeze();
    const startedAtMs = Date.now();
    expectRefusal(service, await post(target), { status: 502, code: "upstream_failed" });
    expect(Date.now() - startedAtMs).toBeLessThan(3000);
    stage.thaw();
    expect((await post(target)).status).toBe(200);
    expect(await states()).toEqual(stopped);
  });

  it("goes on with a link that was made with the secret before, and refuses one of any other", async () => {
    const { email, states } = await recipient();
    const linkOf = async (APP_SECRET: string) => {
      const operator = await Service.make({ ...service.environment, APP_SECRET, APP_SECRET_PREVIOUS: "" });
      const { url } = await operator.adminJson<{ url: string }>("emails", "unsubscribe-link", email);
      return url.slice(service.url.length);
    };
    expectRefusal(service, await post(await linkOf("x".repeat(32))), { status: 400, code: "invalid_token" });
    expect(await states()).toEqual(scheduled);
    // Whoever asks while its first mail is on its way may be told to ask again.
    const target = await linkOf(older);
    await expect.poll(async () => (await post(target)).status, { timeout: 10_000 }).toBe(200);
    expect(await states()).toEqual(stopped);
  });

  it("says nothing of the token in the log", async () => {
    expect(service.log).not.toContain("v1.");
    expect(service.log).not.toContain("acc_");
    expect(service.log).not.toContain("@example.com");
  });

  it("has stopped them for good once it answered 200: a kill -9 loses nothing", async () => {
    if (!service.isRunning) await service.run();
    const { target, states } = await recipient();
    expect((await post(target)).status).toBe(200);
    await service.kill();
    expect(await states()).toEqual(stopped);
  });
});
