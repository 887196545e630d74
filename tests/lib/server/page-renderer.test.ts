import { execFileSync, fork, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { join, resolve } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { operations } from "@/lib/http/operations";
import { log } from "@/lib/runtime/log";
import { PageRenderer } from "@/lib/server/page-renderer";
import { eventually } from "@/tests/support/databases";
import { createFolder } from "@/tests/support/leash";
import { Service } from "@/tests/support/service";

const { health } = operations;

/** The process id of a service's page renderer, and the folder of its socket. */
function pagesOf({ pid }: Service): { pid: number; folder: string } {
  const [child] = execFileSync("pgrep", ["-P", String(pid)], { encoding: "utf8" })
    .trim()
    .split("\n");
  const [, , socketPath = ""] = readFileSync(`/proc/${child}/cmdline`, "utf8").split("\0").slice(-4, -1);
  return { pid: Number(child), folder: join(socketPath, "..") };
}

const isThere = (pid: number) => existsSync(`/proc/${pid}`);

/** A page that is not the same for everyone. */
const rendered = "/docs/search?q=entitlement";

async function timed<T>(act: () => Promise<T>): Promise<T & { seconds: number }> {
  const startedAtMs = performance.now();
  const result = await act();
  return { ...result, seconds: (performance.now() - startedAtMs) / 1000 };
}

describe("the page renderer of a service", () => {
  let service: Service;
  beforeAll(async () => {
    service = await Service.make({ SIGN_IN: "local" });
  });
  beforeEach(async () => {
    if (!service.isRunning) await service.run();
  });
  afterAll(() => service.stop({ expectErrors: true }));

  it("can be killed: the API and the forms work, a page answers 503, and then recovers", async () => {
    expect((await service.ask(rendered)).status).toBe(200);
    const { pid } = pagesOf(service);
    process.kill(pid, "SIGKILL");
    await eventually(() => expect(service.takeErrors()).toHaveLength(1));
    expect((await service.ask(health.path)).status).toBe(200);
    expect((await service.submit("/sign-in/send", { email: "ceo@example.com" })).status).toBe(303);
    expect((await service.ask("/unsubscribe?token=x")).status).toBe(400);
    await eventually(() => expect(pagesOf(service).pid).not.toBe(pid));
    await eventually(async () => expect((await service.ask(rendered)).status).toBe(200));
  });

  it("can be away from the start: what is the same for everyone is there", async () => {
    await service.ask(rendered);
    process.kill(pagesOf(service).pid, "SIGSTOP");
    for (const path of ["/", "/docs", "/docs/mcp.md", "/sign-in", "/openapi.json", "/sitemap.xml"]) {
      const { status, seconds } = await timed(() => service.ask(path));
      expect([path, status]).toEqual([path, 200]);
      expect(seconds).toBeLessThan(2);
    }
    await eventually(() => expect(service.takeErrors()).toHaveLength(2));
  });

  it("is replaced when it gives no sign of life for three seconds", async () => {
    await service.ask(rendered);
    const { pid } = pagesOf(service);
    process.kill(pid, "SIGSTOP");
    const { seconds } = await timed(() =>
      eventually(async () => expect((await service.ask(rendered)).status).toBe(200)),
    );
    expect(seconds).toBeLessThan(40); // 6 on an idle machine
    expect(isThere(pid)).toBe(false);
    await eventually(() => expect(service.takeErrors().length).toBeGreaterThanOrEqual(2));
  });

  it("is told to end by a unit manager in its first second, and the service stops as it should", async () => {
    await service.stop({ expectErrors: true });
    const starting = service.run();
    const { pid } = await eventually(() => pagesOf(service));
    process.kill(pid, "SIGTERM");
    await starting;
    expect(await service.stop({ expectErrors: true })).toBe(0);
  });

  it("listens in a folder that only this user can enter", () => {
    const { folder } = pagesOf(service);
    expect(execFileSync("stat", ["-c", "%a", folder], { encoding: "utf8" }).trim()).toBe("700");
  });

  it("deletes nothing when it is started by hand or in a folder with other files", async () => {
    const program = resolve("dist/server/page-renderer-main.js");
    const cwd = createFolder();
    writeFileSync(join(cwd, "letter"), "");
    for (const parameters of [[], ["socket"]]) {
      const byHand = spawnSync("node", [program, ...parameters], { cwd, encoding: "utf8" });
      expect(byHand.stderr).toContain("this program is started by the server: use npm start");
      expect(byHand.status).toBe(1);
    }
    const child = fork(program, ["socket"], { cwd, stdio: ["ignore", "ignore", "ignore", "ipc"] });
    child.disconnect();
    await once(child, "exit");
    expect(readdirSync(cwd)).toEqual(["letter"]);
  });

  it("ends with the service and leaves no files", async () => {
    await service.ask(rendered);
    const { pid, folder } = pagesOf(service);
    expect(await service.stop()).toBe(0);
    await eventually(() => expect([isThere(pid), existsSync(folder)]).toEqual([false, false]));
  });

  it("ends when the service is killed, also after a restart", async () => {
    await service.ask(rendered);
    const { pid: first } = pagesOf(service);
    process.kill(first, "SIGKILL");
    await eventually(() => expect(pagesOf(service).pid).not.toBe(first));
    await eventually(async () => expect((await service.ask(rendered)).status).toBe(200));
    const { pid, folder } = pagesOf(service);
    await service.kill();
    await eventually(() => expect([isThere(pid), existsSync(folder)]).toEqual([false, false]));
  });
});

describe("a page renderer", () => {
  const started: PageRenderer[] = [];
  afterEach(async () => {
    for (const pages of started.splice(0)) await pages.stop();
    vi.restoreAllMocks();
  });

  /** Runs the test's own program instead of Next. */
  function run(source: string, deadlines = {}): PageRenderer {
    const program = join(createFolder(), "program.mjs");
    writeFileSync(program, source);
    const pages = new PageRenderer({
      program,
      readyWithinMs: { atFirst: 20_000, again: 20_000 },
      ...deadlines,
    });
    started.push(pages);
    return pages;
  }
  const listening = (answer: string) => `
    import { createServer } from "node:http";
    process.on("disconnect", () => process.exit());
    process.on("message", () => process.send({ is: "alive" }));
    createServer((incoming, outgoing) => { ${answer} })
      .listen(process.argv[2], () => process.send({ is: "ready" }));`;
  const asked = (url: string) => ({ method: "GET", url }) as IncomingMessage;

  it("gets only the headers that are passed to it", async () => {
    const pages = run(listening("outgoing.end(JSON.stringify(incoming.headers))"));
    await pages.start();
    const { status, headers, content } = await pages.render(asked("/"), { host: "x", "x-one": "1" });
    expect(status).toBe(200);
    expect(headers).toEqual(["Content-Length", String(content.length)]);
    expect(JSON.parse(content.toString())).toEqual({ host: "x", "x-one": "1", connection: "keep-alive" });
  });

  it("is killed and restarted when it does not answer in time", async () => {
    vi.spyOn(log(), "error").mockReturnValue();
    const answer = 'if (incoming.url !== "/hang") outgoing.end(String(process.pid))';
    const pages = run(listening(answer), { renderedWithinMs: 300 });
    await pages.start();
    const before = await pages.render(asked("/"), {});
    await expect(pages.render(asked("/hang"), {})).rejects.toThrow("no answer within 300 ms");
    const after = await eventually(() => pages.render(asked("/"), {}));
    expect(after.content.toString()).not.toBe(before.content.toString());
    expect(log().error).toHaveBeenCalledTimes(2);
  });

  it("is restarted after growing pauses when it keeps ending", async () => {
    const logged = vi.spyOn(log(), "error").mockReturnValue();
    const pages = run(listening("process.exit(7)"));
    await pages.start();
    await eventually(async () => {
      await pages.render(asked("/"), {}).catch(() => {});
      expect(logged.mock.calls.length).toBeGreaterThanOrEqual(3);
    });
    const pauses = logged.mock.calls.map(([fields]) => fields);
    expect(pauses.slice(0, 3)).toEqual(
      [100, 500, 2000].map((pauseMs) => ({ code: 7, signal: null, pauseMs })),
    );
  });

  it("reports at the start why it cannot render", async () => {
    const broken = run('process.send({ is: "broken", fault: "there is no build" }, () => process.exit(1));');
    await expect(broken.start()).rejects.toThrow("there is no build");
    await expect(run("process.exit(3)").start()).rejects.toThrow("The page renderer ended with 3.");
  });
});
