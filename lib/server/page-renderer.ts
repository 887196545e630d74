import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { Agent, type IncomingMessage, request as sendRequest } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { currentSecret } from "@/lib/runtime/app-secret";
import { log, relayToLog } from "@/lib/runtime/log";
import { metrics } from "@/lib/runtime/metrics";
import { recordOutage } from "@/lib/runtime/outages";
import { TimeoutError, withTimeout } from "@/lib/runtime/timeout";

/** The bundle of `page-renderer-main.ts`. */
const rendererMain = fileURLToPath(new URL("../server/page-renderer-main.js", import.meta.url));
const stoppedWithinMs = 500; // no request is in progress when it is stopped
/** The server is its trusted proxy. It has no metrics of its own. */
const ownSettings = {
  TRUSTED_PROXY_HOPS: "1",
  VERCEL: "",
  DATABASE_POOL: "2",
  METRICS_PORT: "",
};
/** Memory limits in MiB. Our own flags are left out: source maps of Next's bundles would take another 200 MiB. */
const nodeFlags = ["--max-old-space-size=256", "--max-semi-space-size=4"];
const restartDelaysMs = [100, 500, 2000, 10_000, 30_000];
const stableAfterMs = 60_000; // a process that ran this long is restarted at once

type Options = {
  program?: string;
  /** How long a page waits for the process at the first start and at a restart. */
  readyWithinMs?: { atFirst: number; again: number };
  /** Longer than any other timeout of a page. */
  renderedWithinMs?: number;
};

const askIntervalMs = 1000; // for a sign of life
const maxSilences = 3;

/** The reports of the process: once after its start, then that it is alive, whenever it is asked. */
export type RendererMessage = { is: "ready" | "alive" } | { is: "broken"; fault: string };

export type RenderRequest = Pick<IncomingMessage, "method" | "url"> & { body?: Buffer | undefined };

/** A rendered page; its headers are names and values in turn. */
export type RenderedPage = { status: number; headers: string[]; content: Buffer };

type Run = { child: ChildProcess; socketPath: string };

/**
 * The process that renders pages. It listens on a socket in a private folder, is restarted after growing pauses when it
 * ends or hangs, and ends with this process.
 */
export class PageRenderer {
  private readonly folder = createFolder();
  private readonly agent = new Agent({ keepAlive: true });
  private run: Run | undefined;
  private ready: Promise<Run>;
  private runs = 0;
  private isStopping = false;
  private readonly program: string;
  private readonly readyWithinMs: { atFirst: number; again: number };
  private readonly renderedWithinMs: number;

  constructor({
    program = rendererMain,
    readyWithinMs = { atFirst: 30_000, again: 5000 },
    renderedWithinMs = 15_000,
  }: Options = {}) {
    this.program = program;
    this.readyWithinMs = readyWithinMs;
    this.renderedWithinMs = renderedWithinMs;
    process.once("exit", () => rmSync(this.folder, { recursive: true, force: true }));
    this.ready = this.launch();
  }

  /** Waits until the process is ready, and restarts it from then on. Throws if the first start fails. */
  async start(): Promise<void> {
    try {
      await this.ready;
    } catch (fault) {
      // A unit manager may signal every process of a service: that is not a fault of this one.
      if (!this.isStopping && !this.run?.child.signalCode) throw fault;
    }
    this.watch();
  }

  /**
   * Renders a page. Throws if no process is running, or it does not answer in time; it is then killed.
   *
   * @param headers - the only headers that pages see
   */
  async render(renderRequest: RenderRequest, headers: Record<string, string>): Promise<RenderedPage> {
    const { atFirst, again } = this.readyWithinMs;
    const { child, socketPath } = await withTimeout(this.runs === 1 ? atFirst : again, this.ready);
    try {
      const page = await withTimeout(this.renderedWithinMs, this.ask(renderRequest, { socketPath, headers }));
      metrics()?.renders.inc({ outcome: "rendered" });
      return page;
    } catch (failure) {
      metrics()?.renders.inc({ outcome: "failed" });
      if (failure instanceof TimeoutError && child.kill("SIGKILL"))
        log().error("the page renderer does not answer and is stopped");
      throw failure;
    }
  }

  async stop(): Promise<void> {
    this.isStopping = true;
    const { child } = this.run ?? {};
    if (!child || hasEnded(child)) return;
    if (child.connected) child.disconnect();
    await withTimeout(stoppedWithinMs, once(child, "exit")).catch(() => child.kill("SIGKILL"));
  }

  private async watch(): Promise<void> {
    for (let failures = 0; !this.isStopping; failures++) {
      const startedAtMs = performance.now();
      const { child } = await this.ready.catch(() => this.run as Run);
      if (!hasEnded(child)) await once(child, "exit");
      if (this.isStopping) return;
      recordOutage("pages", true);
      if (performance.now() - startedAtMs > stableAfterMs) failures = 0;
      const pauseMs = restartDelaysMs[Math.min(failures, restartDelaysMs.length - 1)];
      log().error(
        { code: child.exitCode, signal: child.signalCode, pauseMs },
        "the page renderer ended and is restarted",
      );
      metrics()?.pagesRestarts.inc();
      this.ready = sleep(pauseMs).then(() => this.launch());
    }
  }

  private async launch(): Promise<Run> {
    // A killed process leaves its socket.
    if (this.run) rmSync(this.run.socketPath, { force: true });
    const socketPath = join(this.folder, String(++this.runs));
    const child = fork(this.program, [socketPath], {
      execArgv: nodeFlags,
      env: { ...process.env, ...ownSettings, APP_SECRET: currentSecret() },
      stdio: ["ignore", "pipe", "pipe", "ipc"],
      // In a process group of its own, which no terminal signals.
      detached: true,
    });
    this.run = { child, socketPath };
    for (const output of [child.stdout, child.stderr]) if (output) relayToLog(output);
    const ended = once(child, "exit").then(([code, signal]) => {
      throw new Error(`The page renderer ended with ${code ?? signal}.`);
    });
    const [message] = (await Promise.race([once(child, "message"), ended])) as [RendererMessage];
    if (message.is === "broken") throw new Error(message.fault);
    recordOutage("pages", false);
    endWhenSilent(child);
    return this.run;
  }

  private async ask(
    { method, url, body }: RenderRequest,
    { socketPath, headers }: { socketPath: string; headers: Record<string, string> },
  ): Promise<RenderedPage> {
    const request = sendRequest({ socketPath, agent: this.agent, method, path: url, headers });
    request.end(body);
    const [response] = (await once(request, "response")) as [IncomingMessage];
    const content = await buffer(response);
    return { status: response.statusCode ?? 500, headers: ownHeaders(response, content), content };
  }
}

const folderName = /^corner-office-pages-(\d+)-\w{6}$/;

/** Creates the folder of this process, and removes those that killed ones left. */
function createFolder(): string {
  for (const name of readdirSync(tmpdir())) {
    const [, pid] = folderName.exec(name) ?? [];
    if (pid && !isRunning(Number(pid))) rmSync(join(tmpdir(), name), { recursive: true, force: true });
  }
  return mkdtempSync(join(tmpdir(), `corner-office-pages-${process.pid}-`));
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (failure) {
    return (failure as NodeJS.ErrnoException).code === "EPERM"; // it is another user's
  }
}

/** Ends a process that gives no sign of life: it is frozen, or in an endless loop. */
function endWhenSilent(child: ChildProcess): void {
  let silences = 0;
  child.on("message", () => {
    silences = 0;
  });
  const timer = setInterval(() => {
    if (silences++ < maxSilences) child.connected && child.send({});
    else if (child.kill("SIGKILL")) log().error("the page renderer gives no sign of life and is stopped");
  }, askIntervalMs).unref();
  child.once("exit", () => clearInterval(timer));
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

/** Hop-by-hop headers (RFC 9110 §7.6.1), and `Date`, which the server sets itself. */
const notForwarded = new Set(["connection", "keep-alive", "transfer-encoding", "date"]);

function ownHeaders({ rawHeaders, headers }: IncomingMessage, content: Buffer): string[] {
  const own: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name = "", value = ""] = rawHeaders.slice(at, at + 2);
    if (!notForwarded.has(name.toLowerCase())) own.push(name, value);
  }
  if (content.length > 0 && !headers["content-length"]) own.push("content-length", String(content.length));
  return own;
}
