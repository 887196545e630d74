import { type ChildProcess, execFile, type SpawnOptions } from "node:child_process";
import { openSync } from "node:fs";
import { type IncomingHttpHeaders, request as sendRequest } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { recordAnswer, recordRaw } from "@/tests/support/answers";
import { startProgram } from "@/tests/support/earlier-build";
import { createFolder, spawnLeashed, type Until } from "@/tests/support/leash";
import { type Outcome, operate } from "@/tests/support/operator";
import { reservePort } from "@/tests/support/port";

export type Environment = Record<string, string>;

/** A response as received. */
export type Answer = { status: number; headers: IncomingHttpHeaders; text: string };

type Finding = { what: string; works: boolean; level: string; detail: string; remedy?: string };

type AuditEntry = {
  who: string;
  what: string;
  whom: string | null;
  before: Record<string, unknown> | null;
  after: Record<string, unknown> | null;
};

type LogTo = "here" | "file" | number;

export type ServiceOptions = {
  program?: string[];
  /** The log's destination: this process, a file in its data folder, or a descriptor. */
  logTo?: LogTo;
  /** The folder that it was built in. */
  folder?: string;
  /** How long it runs at most. */
  until?: Until;
};

type RequestOptions = {
  method?: string;
  headers?: Record<string, string | string[]>;
  body?: string | Buffer;
  /** The loopback address to send from. */
  from?: string;
};

/** Sends one request to a port of this machine, with exactly this path and these headers. */
export function sendTo(
  port: number,
  path: string,
  { method = "GET", headers = {}, body, from: localAddress = "127.0.0.1" }: RequestOptions,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const to = { host: "127.0.0.1", port, localAddress, path, method, headers, agent: false };
    const request = sendRequest(to, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk) => {
        text += chunk;
      });
      response.once("end", () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text }),
      );
      response.once("error", reject);
    });
    request.once("error", reject);
    request.end(body);
  });
}

/** The built service, in its own process with its own data folder. */
export class Service {
  readonly url: string;
  log = "";
  /** The default loopback address that requests are sent from. */
  from = "127.0.0.1";
  private takenUpTo = 0;
  private child: ChildProcess | undefined;

  private constructor(
    readonly environment: Environment,
    readonly port: number,
    private readonly program: string[],
    private readonly logTo: LogTo,
    private readonly folder: string,
    private readonly until: Until,
  ) {
    this.url = environment.APP_URL ?? `http://localhost:${port}`;
  }

  /** Starts it with these settings only, without this machine's environment. */
  static async start(environment: Environment = {}, options: ServiceOptions = {}): Promise<Service> {
    const service = await Service.make(environment, options);
    await service.run();
    return service;
  }

  /** A service with these settings that is not started: for operator's commands, or until {@link run}. */
  static async make(
    environment: Environment = {},
    { folder = ".", program = [startProgram(folder)], logTo = "here", until = "file" }: ServiceOptions = {},
  ): Promise<Service> {
    const port = Number(environment.PORT) || (await reservePort());
    const settings = {
      PATH: process.env.PATH ?? "",
      NODE_ENV: "production",
      PORT: String(port),
      DATA_DIR: createFolder(until),
      DRAIN_SECONDS: "0",
      ...environment,
    };
    return new Service(settings, port, program, logTo, folder, until);
  }

  get pid(): number {
    return this.child?.pid ?? 0;
  }

  get dataDir(): string {
    return this.environment.DATA_DIR ?? "";
  }

  get isRunning(): boolean {
    return this.child?.exitCode === null && this.child.signalCode === null;
  }

  /** Starts the process, for the first time or after a {@link kill}, and waits until it listens. */
  async run(): Promise<void> {
    const { logTo } = this;
    const log =
      logTo === "file" ? openSync(join(this.dataDir, "log"), "a") : logTo === "here" ? "pipe" : logTo;
    const env = this.environment as NodeJS.ProcessEnv;
    const options: SpawnOptions = { cwd: this.folder, env, stdio: ["ignore", "ignore", log] };
    const child = spawnLeashed("node", this.program, options, this.until);
    this.child = child;
    child.stderr?.on("data", (chunk) => {
      this.log += chunk;
    });
    const ended = new Promise<never>((_, reject) => {
      child.once("close", (code) => reject(new Error(`The service ended with ${code}: ${this.log}`)));
    });
    while (!(await Promise.race([this.isListening(), ended]))) await sleep(20);
  }

  /** Waits until it is ready, as a load balancer does before it sends anyone. */
  async ready(): Promise<void> {
    while ((await this.ask("/ready")).status !== 200) await sleep(20);
  }

  private isListening(): Promise<boolean> {
    return new Promise((resolve) => {
      const socket = connect(this.port, "127.0.0.1", () => {
        socket.destroy();
        resolve(true);
      });
      socket.once("error", () => resolve(false));
    });
  }

  /** Stops it as an operator would, and returns its exit code. Throws if it logged an unexpected error. */
  async stop({ expectErrors = false } = {}): Promise<number | null> {
    const code = await this.end("SIGTERM");
    const errors = this.takeErrors();
    if (!expectErrors && errors.length > 0)
      throw new Error(`The service logged errors:\n${errors.join("\n")}`);
    return code;
  }

  /** Takes the errors logged since the last call: a test takes those that it expects. */
  takeErrors(): string[] {
    const errors = this.log
      .slice(this.takenUpTo)
      .split("\n")
      .filter((line) => line.includes('"level":"error"'));
    this.takenUpTo = this.log.length;
    return errors.map((line) => JSON.parse(line).msg);
  }

  /** Clears its log. */
  forgetLog(): void {
    this.log = "";
    this.takenUpTo = 0;
  }

  /** Kills it without warning; its data folder stays. */
  async kill(): Promise<void> {
    await this.end("SIGKILL");
  }

  /** Stops reading its log, as a crashed log collector does. */
  closeLog(): void {
    this.child?.stderr?.destroy();
  }

  /** Sends it a signal without waiting. */
  signal(signal: NodeJS.Signals): void {
    this.child?.kill(signal);
  }

  private async end(signal: NodeJS.Signals): Promise<number | null> {
    if (!this.isRunning) return this.child?.exitCode ?? null;
    const exited = this.exit();
    this.child?.kill(signal);
    return exited;
  }

  /** Waits for its exit code; something else must end it. */
  exit(): Promise<number | null> {
    return new Promise((resolve) => this.child?.removeAllListeners("close").once("close", resolve));
  }

  /** Sends one request with exactly this path and these headers. */
  async ask(path: string, { from = this.from, ...options }: RequestOptions = {}): Promise<Answer> {
    const answer = await sendTo(this.port, path, { from, ...options });
    const { status, headers, text } = answer;
    recordAnswer({ method: options.method ?? "GET", path, status, headers, body: text });
    return answer;
  }

  /** Posts a form as a browser that keeps cookies does on one of our pages. */
  async submit(
    path: string,
    fields: Record<string, string>,
    { headers = {}, ...others }: Omit<RequestOptions, "method" | "body"> = {},
  ): Promise<Answer> {
    const post = (cookie: string[]) =>
      this.ask(path, {
        ...others,
        method: "POST",
        headers: {
          origin: this.url,
          "content-type": "application/x-www-form-urlencoded",
          ...headers,
          ...(cookie.length > 0 && { cookie: cookie.join("; ") }),
        },
        body: new URLSearchParams(fields).toString(),
      });
    const sent = [headers.cookie ?? []].flat().filter(Boolean);
    const answer = await post(sent);
    if (answer.status !== 307) return answer;
    const probe = answer.headers["set-cookie"]?.map((cookie) => cookie.split(";")[0] ?? "") ?? [];
    return post([...sent, ...probe]);
  }

  /** Writes bytes to a socket, closes its side if it half-closes, and returns everything received until it closed. */
  send(bytes: string | Buffer, { halfCloses = false } = {}): Promise<string> {
    return new Promise((resolve, reject) => {
      let received = "";
      const to = { host: "127.0.0.1", port: this.port, localAddress: this.from };
      const socket = connect(to, () => (halfCloses ? socket.end(bytes) : socket.write(bytes)));
      socket.setEncoding("utf8").on("data", (chunk) => {
        received += chunk;
      });
      socket.once("close", () => {
        recordRaw(String(bytes), received);
        resolve(received);
      });
      socket.once("error", reject);
    });
  }

  /** Runs an operator's command while the server runs, with the same settings, and without being asked. */
  admin(...args: string[]): Promise<Outcome> {
    return operate(["--yes", ...args], this.environment);
  }

  /** Runs another program of its build with the same settings; by default a second service. */
  execute(program: string[] = this.program): Promise<Outcome> {
    return new Promise((resolve) => {
      const options = { cwd: this.folder, env: this.environment as NodeJS.ProcessEnv };
      execFile("node", program, options, (error, stdout, stderr) =>
        resolve({ code: typeof error?.code === "number" ? error.code : 0, stdout, stderr }),
      );
    });
  }

  /** Runs an operator's command that must succeed, and returns its JSON document. */
  async adminJson<T = Record<string, unknown>>(...args: string[]): Promise<T> {
    const { code, stdout, stderr } = await this.admin("--json", ...args);
    if (code !== 0) throw new Error(`admin ${args.join(" ")} exited ${code}: ${stderr}${stdout}`);
    return JSON.parse(stdout);
  }

  /** What the operator's check says about one thing. */
  async check(what: string): Promise<Finding | undefined> {
    const findings: Finding[] = JSON.parse((await this.admin("--json", "check")).stdout);
    return findings.find((finding) => finding.what === what);
  }

  /** The path of an account's one-click link to unsubscribe. */
  async unsubscribePath(email: string): Promise<string> {
    const { url } = await this.adminJson<{ url: string }>("emails", "unsubscribe-link", email);
    return url.slice(this.url.length);
  }

  /** The audit entries about a person, newest first. */
  audit(email: string): Promise<AuditEntry[]> {
    return this.adminJson("audit", "list", "--of", email);
  }

  /** The API's status for a bearer token. */
  async statusFor(token: string): Promise<number> {
    return (await this.ask("/api/entitlement", { headers: { authorization: `Bearer ${token}` } })).status;
  }

  /** A bearer token of the account with this email. */
  async token(email: string): Promise<string> {
    const { token } = await this.adminJson<{ token: string }>("token", email);
    return token;
  }
}
