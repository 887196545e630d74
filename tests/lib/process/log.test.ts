import { execFileSync } from "node:child_process";
import { closeSync, constants, openSync, readFileSync } from "node:fs";
import { connect, Socket } from "node:net";
import { join } from "node:path";
import pg from "pg";
import { describe, expect, inject, it } from "vitest";
import { operations } from "@/lib/api/operations";
import { besideDatabaseUrl, createDatabase, eventually } from "@/tests/support/databases";
import { makeFolder, spawnLeashed } from "@/tests/support/leash";
import { reservePort } from "@/tests/support/port";
import { Service } from "@/tests/support/service";

const { path } = operations.health;
const environment = { RATE_LIMIT_HEALTH: "100000000" };
const mebibyte = 1024 * 1024;

describe("the log", () => {
  it("holds nothing up when its reader goes away", async () => {
    const service = await Service.start(environment);
    service.closeLog();
    for (let asked = 0; asked < 200; asked++) expect((await service.ask(path)).status).toBe(200);
    expect(await service.stop()).toBe(0);
  });

  it("holds nothing up when a FIFO's reader stalls, and then says how much it dropped", async () => {
    const folder = makeFolder();
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
    const [notice, ...others] = entries.filter(({ dropped }) => dropped !== undefined);
    expect(notice).toEqual({
      level: "warn",
      time: expect.any(Number),
      dropped: expect.any(Number),
      msg: "the reader of the log was too far behind: lines were dropped",
    });
    expect(others).toEqual([]);
    const visits = entries.filter((entry) => entry.path === path).length;
    expect(visits + notice.dropped, "every line is there or counted").toBe(12_000);
    expect(received.length, "what is held for the reader").toBeLessThan(1.2 * mebibyte);
  });

  it("holds nothing up when the program behind a shell's pipe stalls, nor the stop", async () => {
    const folder = makeFolder();
    const port = await reservePort();
    const server = 'sh -c "echo \\$\\$ >$DATA_DIR/pid; exec node dist/front/main.js"';
    spawnLeashed("sh", ["-c", `${server} 2>&1 >/dev/null | sleep 60`], {
      env: {
        PATH: process.env.PATH,
        NODE_ENV: "production",
        PORT: `${port}`,
        DATA_DIR: folder,
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

describe.runIf(inject("postgresUrl"))("the log of a driver's failure", () => {
  it("says what failed, and nothing of the row that the driver quotes", async () => {
    const databaseUrl = await createDatabase(inject("postgresUrl") ?? "");
    const environment = { ...besideDatabaseUrl, DATABASE_URL: databaseUrl, SIGN_IN: "local" };
    const service = await Service.start(environment);
    const client = new pg.Client(databaseUrl);
    await client.connect();
    await eventually(() => client.query("ALTER TABLE waitlist ADD CHECK (false) NOT VALID"));
    await client.end();
    const { status } = await service.submit("/waitlist/join", { email: "ceo@secret.example" });
    expect(status).toBe(303);
    await eventually(() => expect(service.log).toContain("violates check constraint"));
    expect(service.log).not.toContain("secret.example");
    await service.stop({ expectErrors: true });
  });
});

/** Asks so often on one connection, and waits for every answer. */
function askOften(port: number, times: number): Promise<void> {
  return new Promise((resolve, reject) => {
    let received = "";
    const socket = connect(port, "127.0.0.1", () => {
      socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(times - 1));
      socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    });
    const count = () => received.split("HTTP/1.1 200 OK").length - 1;
    socket.setTimeout(10_000, () => reject(new Error(`${count()} answers, then none for ten seconds`)));
    socket.once("error", reject).on("data", (chunk) => {
      received += chunk.toString("latin1");
    });
    socket.once("close", () => (count() === times ? resolve() : reject(new Error(`${count()} answers`))));
  });
}
