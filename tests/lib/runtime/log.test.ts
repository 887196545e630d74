import { execFileSync } from "node:child_process";
import { closeSync, constants, openSync, readFileSync, writeFileSync } from "node:fs";
import { connect, Socket } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { maxPipelined } from "@/lib/config/limits";
import { operations } from "@/lib/http/operations";
import { toReadable } from "@/lib/runtime/log-format";
import { besideDatabaseUrl, eventually } from "@/tests/support/databases";
import { engines } from "@/tests/support/engines";
import { createFolder, spawnLeashed } from "@/tests/support/leash";
import { giveBack, lend } from "@/tests/support/lent-service";
import { reservePort } from "@/tests/support/port";
import { Service } from "@/tests/support/service";

const { path } = operations.health;
const environment = { RATE_LIMIT_HEALTH: "100000000" };
const mebibyte = 1024 * 1024;

describe("the log", () => {
  it("does not block when its reader closes", async () => {
    const service = await Service.start(environment);
    service.closeLog();
    for (let asked = 0; asked < 20; asked++) expect((await service.ask(path)).status).toBe(200);
    expect(await service.stop()).toBe(0);
  });

  it("does not block when a FIFO's reader stalls, and logs how many lines it dropped", async () => {
    const folder = createFolder();
    const fifo = join(folder, "fifo");
    execFileSync("mkfifo", [fifo]);
    const reader = openSync(fifo, constants.O_RDONLY | constants.O_NONBLOCK);
    const writer = openSync(fifo, "w");
    const service = await Service.start(environment, { logTo: writer });
    closeSync(writer);

    await askOften(service.port, 12_000);
    let received = "";
    new Socket({ fd: reader, readable: true, writable: false }).on("data", (chunk) => {
      received += chunk;
    });
    await eventually(() => expect(received).toContain('"dropped":'));
    expect(await service.stop()).toBe(0);
    const entries = received
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    const [notice, ...notices] = entries.filter(({ dropped }) => dropped !== undefined);
    expect(notice).toEqual({
      level: "warn",
      time: expect.any(Number),
      dropped: expect.any(Number),
      msg: "log lines were dropped because their reader was too slow",
    });
    expect(notices).toEqual([]);
    const visits = entries.filter((entry) => entry.path === path).length;
    // One or two dropped lines may be from startup, if the pages start late.
    const others = visits + notice.dropped - 12_000;
    expect(others, "every line is there or counted").toBeGreaterThanOrEqual(0);
    expect(others).toBeLessThan(10);
    expect(received.length, "what is held for the reader").toBeLessThan(1.2 * mebibyte);
  });

  const server = 'sh -c "echo \\$\\$ >$DATA_DIR/pid; exec node dist/server/main.js"';
  const openTerminal = "import os, pty, subprocess, sys; m, s = pty.openpty(); os.dup2(s, 2)";
  const startServer = "subprocess.call(sys.argv[1:])";
  it.each([
    ["the program behind a shell's pipe stalls", `${server} 2>&1 >/dev/null | sleep 60`],
    ["a terminal is not read", `python3 -c '${openTerminal}; ${startServer}' ${server}`],
  ])("blocks neither requests nor the stop when %s", async (_, command) => {
    const folder = createFolder();
    const port = await reservePort();
    spawnLeashed("sh", ["-c", command], {
      env: {
        PATH: process.env.PATH,
        NODE_ENV: "production",
        PORT: `${port}`,
        DATA_DIR: folder,
        DRAIN_SECONDS: "0",
        ...environment,
      },
      stdio: "ignore",
    });
    await eventually(() => askOften(port, 1));
    await askOften(port, 3000);
    const pid = Number(readFileSync(join(folder, "pid"), "utf8"));
    process.kill(pid, "SIGTERM");
    await eventually(() => expect(() => process.kill(pid, 0)).toThrow("ESRCH"));
  });
});

const secret = "hunter2hunter2";
const bidi = "\u202e\u2066";

/** Characters for a forged line, a terminal escape sequence, an invisible word, or another text direction. */
const nasty = `${secret}\x1b[31m\x9b2J\x07${bidi}\u2028\u2029\u200b\ufeff\u0085`;

describe("every log line", () => {
  it("is valid JSON for any client input, and contains no misplaced secret", async () => {
    const service = await Service.start({ SIGN_IN: "local", LOG_LEVEL: "debug" });
    const encoded = encodeURIComponent(nasty);
    const routes = [
      "/",
      "/waitlist",
      "/sign-in",
      "/sign-in/code",
      "/home",
      "/connect",
      "/status",
      "/docs/search",
      "/docs/search.json",
      "/oauth/authorize",
      "/_next/image",
      "/_next/data",
      "/api/entitlement",
      "/mcp",
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

describe("the log in development", () => {
  it("is readable: one line per request, indented errors, and no escape sequences", () => {
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
});

const [, ...others] = engines;

describe.each(others)("the log of a driver's failure, on $name", (engine) => {
  it("contains the error, but not the row that the driver quotes", async () => {
    const { stage, service } = await lend(engine);
    await stage.query("ALTER TABLE waitlist ADD CONSTRAINT no_row CHECK (false) NOT VALID");
    const { status } = await service.submit("/waitlist/join", { email: "ceo@secret.example" });
    expect(status).toBe(303);
    await eventually(() => expect(service.log).toContain("violates check constraint"));
    await stage.query("ALTER TABLE waitlist DROP CONSTRAINT no_row");
    expect(service.log).not.toContain("secret.example");
    expect(service.takeErrors()).toEqual(["unexpected failure"]);
    await giveBack(service);
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

/** Sends this many requests on one connection, a few at a time, and waits for every response. */
function askOften(port: number, times: number): Promise<void> {
  return new Promise((resolve, reject) => {
    let answers = 0;
    let sent = 0;
    let latest = "";
    const socket = connect(port, "127.0.0.1").setEncoding("latin1");
    const send = (most: number) => {
      const count = Math.min(most, times - sent);
      sent += count;
      socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(count));
    };
    socket.once("connect", () => send(maxPipelined));
    socket.setTimeout(10_000, () => reject(new Error(`${answers} answers, then none for ten seconds`)));
    socket.once("error", reject).on("data", (chunk) => {
      const parts = (latest + chunk).split("HTTP/1.1 200 OK");
      latest = parts.at(-1) ?? "";
      answers += parts.length - 1;
      if (answers === times) socket.end();
      else send(parts.length - 1);
    });
    socket.once("close", () => (answers === times ? resolve() : reject(new Error(`${answers} answers`))));
  });
}
