import { fstatSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { pages } from "@/lib/http/register/pages";
import { toReadable, withPriorities } from "@/lib/runtime/log-format";
import { borrowService } from "@/tests/support/block";
import { besideDatabaseUrl, eventually } from "@/tests/support/databases";
import { everyEngine } from "@/tests/support/engines";
import { createFolder } from "@/tests/support/leash";
import { reservePort } from "@/tests/support/port";
import { Service } from "@/tests/support/service";

const secret = "hunter2hunter2";
const bidi = "\u202e\u2066";

/** Characters for a forged line, a terminal escape sequence, an invisible word, or another text direction. */
const nasty = `${secret}\x1b[31m\x9b2J\x07${bidi}\u2028\u2029\u200b\ufeff\u0085`;

describe("every log line", () => {
  it("is valid JSON for any client input, and contains no misplaced secret", async () => {
    const service = await Service.start({ SIGN_IN: "local", LOG_LEVEL: "debug" });
    const encoded = encodeURIComponent(nasty);
    const routes = [
      ...Object.values(pages).map(({ path }) => path),
      ...["/docs/search.json", "/oauth/authorize", "/_next/image", "/_next/data", "/api/entitlement", "/mcp"],
    ];
    for (const route of routes) {
      for (const target of [`${route}?x=${encoded}&q=${encoded}&url=${encoded}`, `${route}/${encoded}`]) {
        await service.ask(target, {
          headers: {
            accept: "text/html",
            cookie: `__session=${secret}; office-notice=${secret}`,
            authorization: `Bearer ${secret}`,
            "user-agent": `${secret}\x9b31m`,
            "x-request-id": `${secret}\x9b31m`,
            "x-forwarded-for": secret,
            referer: `http://localhost/${secret}`,
            rsc: secret,
            "next-router-state-tree": secret,
            "next-action": secret,
          },
        });
      }
      for (const bytes of [
        Buffer.from(`GET ${route}/${nasty} HTTP/1.1\r\nHost: ${secret}\r\nConnection: close\r\n\r\n`),
        Buffer.from(`GET ${route}?%E0%A4%A${secret} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`),
        Buffer.from(`${secret} ${route} HTTP/1.1\r\nHost: x\r\n\r\n`),
        Buffer.from(`GET http://${secret}/${secret} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`),
        Buffer.from(
          `POST ${route} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 9\r\n\r\n${secret}`,
        ),
      ]) {
        await service.send(bytes);
      }
    }
    for (const path of ["/waitlist/join", "/sign-in/send", "/connect/answer", "/oauth/token", "/mcp"]) {
      await service.submit(path, { email: nasty, user_code: nasty, grant_type: nasty, client_id: nasty });
    }
    await service.stop();
    const entries = parseLines(service.log);
    expect(entries.length).toBeGreaterThan(routes.length * 6);
    expect(service.log).not.toContain(secret);
  });

  it("names the causes of a failure: what each host of a database that is away has said", async () => {
    const hosts = await Promise.all([reservePort(), reservePort()]);
    const service = await Service.start({
      ...besideDatabaseUrl,
      DATABASE_URL: `postgres://office:${secret}@${hosts.map((port) => `127.0.0.1:${port}`).join(",")}/office`,
    });
    const refused = hosts.map((port) => `connect ECONNREFUSED 127.0.0.1:${port}`);
    await eventually(() => {
      const failures = parseLines(service.log).map(({ err }) => JSON.stringify(err ?? null));
      expect(failures.find((one) => refused.every((words) => one.includes(words)))).toBeDefined();
    });
    expect(service.log).not.toContain(secret);
    await service.stop({ expectErrors: true });
  });

  it("has the time as LOG_FORMAT says", async () => {
    const service = await Service.start({ LOG_FORMAT: "iso" });
    await service.ask("/api/health");
    await service.stop();
    expect(service.log).toMatch(
      /^\{"level":"info","time":"\d{4}-\d\d-\d\dT[\d:.]+Z","method":"GET","path":"\/api\/health"/m,
    );
    const forGoogle = await Service.start({ LOG_FORMAT: "google", TRUSTED_PROXY_HOP: "1" });
    await forGoogle.ask("/api/health");
    await forGoogle.stop();
    expect(forGoogle.log).toMatch(
      /^\{"severity":"WARNING","time":"\d{4}-.*,"message":"TRUSTED_PROXY_HOP is not/m,
    );
    expect(forGoogle.log).toMatch(/^\{"severity":"INFO","time":"\d{4}-.*,"path":"\/api\/health"/m);
    expect(forGoogle.log).not.toMatch(/"(?:level|msg)":/);
    const forPeople = await Service.start({ LOG_FORMAT: "text" });
    await forPeople.stop();
    expect(forPeople.log).toMatch(/^\d\d:\d\d:\d\d INFO {2}listening port=\d+/m);
  });

  it("has a priority for systemd's journal, and no other reader", async () => {
    const file = join(createFolder(), "journal");
    const log = openSync(file, "a");
    const { dev, ino } = fstatSync(log);
    const service = await Service.start(
      { JOURNAL_STREAM: `${dev}:${ino}`, TRUSTED_PROXY_HOP: "1" },
      { logTo: log },
    );
    await service.stop();
    expect(readFileSync(file, "utf8")).toMatch(/^<6>\{"level":"info".*"listening"\}$/m);
    expect(readFileSync(file, "utf8")).toMatch(/^<4>\{"level":"warn".*TRUSTED_PROXY_HOP is not a setting/m);
    const other = await Service.start({ JOURNAL_STREAM: `${dev}:${ino}` });
    await other.stop();
    expect(other.log).toMatch(/^\{"level":"info"/);
    expect(withPriorities((line) => `${line}two lines\n`)('{"level":"error"}\n')).toBe(
      '<3>{"level":"error"}\n<3>two lines\n',
    );
  });

  it("of a balancer's poll is there once its answer changes", async () => {
    const service = await Service.start({ DRAIN_SECONDS: "1" });
    await service.ready();
    for (let poll = 0; poll < 5; poll++) await service.ask("/ready");
    const stopped = service.stop();
    await eventually(async () => expect((await service.ask("/ready")).status).toBe(503));
    await stopped;
    const polls = parseLines(service.log).filter(({ path }) => path === "/ready");
    const statuses = polls.map(({ status }) => status);
    expect(statuses.slice(-2)).toEqual([200, 503]);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
  });

  it("captures other output of this process, one entry per write", async () => {
    const program = join(createFolder(), "others.mjs");
    writeFileSync(
      program,
      `if (process.argv[1].includes("dist/server")) setTimeout(() => {
        console.log("%s log", "a");
        console.error("an error \\x1b[31mred\\x1b[0m\\nin two lines");
        process.stderr.write("standard error\\n");
        process.emitWarning("a warning");
        process.once("SIGUSR2", () => { throw new Error("uncaught"); });
      }, 1000);`,
    );
    const service = await Service.start({ NODE_OPTIONS: `--import=${program}` });
    await eventually(() => expect(service.log).toContain("a warning"));
    const exit = service.exit();
    service.signal("SIGUSR2");
    expect(await exit).toBe(1);
    const entries = parseLines(service.log);
    const others = { time: expect.any(Number), from: "the console" };
    expect(entries).toContainEqual({ ...others, level: "info", msg: "a log" });
    expect(entries).toContainEqual({ ...others, level: "warn", msg: "an error red\nin two lines" });
    expect(entries).toContainEqual({ ...others, level: "warn", msg: "standard error" });
    expect(entries).toContainEqual(
      expect.objectContaining({
        msg: "Node.js warning",
        err: expect.objectContaining({ message: "a warning" }),
      }),
    );
    expect(entries.at(-1)).toMatchObject({ level: "fatal", err: { message: "uncaught" } });
  });
});

it("the log in development is readable: one line per request, indented errors, and no escape sequences", () => {
  const time = new Date(2026, 0, 2, 3, 4, 5).getTime();
  const context = { level: "info", time, method: "GET", path: "/", status: 200, ms: 1.5, requestId: "a" };
  expect(toReadable(JSON.stringify(context))).toBe('03:04:05 INFO  GET / 200 1.5 ms requestId="a"\n');
  const failure = {
    level: "error",
    time,
    msg: `a ${bidi}`,
    err: { message: "m", stack: "Error: m\x1b\n at b" },
  };
  expect(toReadable(JSON.stringify(failure))).toBe(
    "03:04:05 ERROR a \\u202e\\u2066\n    Error: m\\u001b\n     at b\n",
  );
});

const [, ...others] = everyEngine;

describe.each(others)("the log of a driver's failure, on $name", async (engine) => {
  const { stage, service } = await borrowService(engine);

  it("contains the error, but not the row that the driver quotes", async () => {
    await stage.query("ALTER TABLE waitlist ADD CONSTRAINT no_row CHECK (false) NOT VALID");
    const { status } = await service.submit("/waitlist/join", { email: "ceo@secret.example" });
    expect(status).toBe(303);
    await eventually(() => expect(service.log).toContain("violates check constraint"));
    await stage.query("ALTER TABLE waitlist DROP CONSTRAINT no_row");
    expect(service.log).not.toContain("secret.example");
    expect(service.takeErrors()).toEqual(["unexpected failure"]);
  });
});

/** Parses the lines of a log. Each must be an object, in printable ASCII. */
function parseLines(log: string): Record<string, unknown>[] {
  return log
    .trimEnd()
    .split("\n")
    .map((line) => {
      expect(line).toMatch(/^\{[\x20-\x7e]*\}$/);
      return JSON.parse(line);
    });
}
