import { execFileSync } from "node:child_process";
import { closeSync, constants, openSync, readFileSync } from "node:fs";
import { connect, Socket } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { maxPipelined } from "@/lib/config/limits";
import { operations } from "@/lib/http/register/operations";
import { eventually } from "@/tests/support/databases";
import { createFolder, spawnLeashed } from "@/tests/support/leash";
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
