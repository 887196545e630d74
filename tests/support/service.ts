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

/** An answer as it came over the wire. */
export type Answer = { status: number; headers: IncomingHttpHeaders; text: string };

type LogTo = "here" | "file" | number;

type Options = {
  program?: string[];
  /** Where its log goes: to this process, to a file in its data folder, or to a descriptor. */
  logTo?: LogTo;
  /** Where it was built. */
  folder?: string;
  /** What it outlasts. */
  until?: Until;
};

type AuthorizationRequest = {
  method?: string;
  headers?: Record<string, string | string[]>;
  body?: string | Buffer;
  /** Which loopback address to come from. */
  from?: string;
};

/** The built service, running in a process of its own with a data folder of its own. */
export class Service {
  readonly url: string;
  log = "";
  /** Which loopback address a request comes from that names none. */
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

  /** Starts it with these settings and nothing else of this machine's environment. */
  static async start(environment: Environment = {}, options: Options = {}): Promise<Service> {
    const service = await Service.make(environment, options);
    await service.run();
    return service;
  }

  /** A service with these settings that does not run: for its operator's commands alone, or until {@link run}. */
  static async make(
    environment: Environment = {},
    { folder = ".", program = [startProgram(folder)], logTo = "here", until = "file" }: Options = {},
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

  private isListening(): Promise<boolean> {
    return new Promise((resolve) => {
      const socket = connect(this.port, "127.0.0.1", () => {
        socket.destroy();
        resolve(true);
      });
      socket.once("error", () => resolve(false));
    });
  }

  /** Stops it as an operator would, and answers its exit code. Fails when it logged an error nobody expected. */
  async stop({ expectErrors = false } = {}): Promise<number | null> {
    const code = await this.end("SIGTERM");
    const errors = this.takeErrors();
    if (!expectErrors && errors.length > 0)
      throw new Error(`The service logged errors:\n${errors.join("\n")}`);
    return code;
  }

  /** What it logged as an error since this was last asked: a test that expects an error takes it. */
  takeErrors(): string[] {
    const errors = this.log
      .slice(this.takenUpTo)
      .split("\n")
      .filter((line) => line.includes('"level":"error"'));
    this.takenUpTo = this.log.length;
    return errors.map((line) => JSON.parse(line).msg);
  }

  /** Begins its log anew. */
  forgetLog(): void {
    this.log = "";
    this.takenUpTo = 0;
  }

  /** Ends it with no warning; its data folder stays. */
  async kill(): Promise<void> {
    await this.end("SIGKILL");
  }

  /** Stops reading its log, as a log collector does that dies. */
  closeLog(): void {
    this.child?.stderr?.destroy();
  }

  /** Sends it a signal and waits for nothing. */
  signal(signal: NodeJS.Signals): void {
    this.child?.kill(signal);
  }

  private async end(signal: NodeJS.Signals): Promise<number | null> {
    if (!this.isRunning) return this.child?.exitCode ?? null;
    const exited = this.exit();
    this.child?.kill(signal);
    return exited;
  }

  /** The exit code that it will have: somebody else ends it. */
  exit(): Promise<number | null> {
    return new Promise((resolve) => this.child?.removeAllListeners("close").once("close", resolve));
  }

  /** Sends one request, path and headers exactly as given. */
  ask(
    path: string,
    { method = "GET", headers = {}, body, from = this.from }: AuthorizationRequest = {},
  ): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const to = { host: "127.0.0.1", port: this.port, localAddress: from };
      const request = sendRequest({ ...to, path, method, headers, agent: false }, (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (chunk) => {
          text += chunk;
        });
        response.once("end", () => {
          const { statusCode: status = 0, headers } = response;
          recordAnswer({ method, path, status, headers, body: text });
          resolve({ status, headers, text });
        });
        response.once("error", reject);
      });
      request.once("error", reject);
      request.end(body);
    });
  }

  /** Posts a form as a browser does from one of our pages. */
  submit(
    path: string,
    fields: Record<string, string>,
    { headers = {}, ...others }: Omit<AuthorizationRequest, "method" | "body"> = {},
  ): Promise<Answer> {
    return this.ask(path, {
      ...others,
      method: "POST",
      headers: { origin: this.url, "content-type": "application/x-www-form-urlencoded", ...headers },
      body: new URLSearchParams(fields).toString(),
    });
  }

  /** Writes bytes to the socket and answers everything that came back until it closed. */
  send(bytes: string | Buffer): Promise<string> {
    return new Promise((resolve, reject) => {
      let received = "";
      const to = { host: "127.0.0.1", port: this.port, localAddress: this.from };
      const socket = connect(to, () => socket.write(bytes));
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

  /** Runs an operator's command beside the running server, with the same settings. */
  admin(...args: string[]): Promise<Outcome> {
    return operate(args, this.environment);
  }

  /** Runs another program of its build beside it, with the same settings; by default the service a second time. */
  execute(program: string[] = this.program): Promise<Outcome> {
    return new Promise((resolve) => {
      const options = { cwd: this.folder, env: this.environment as NodeJS.ProcessEnv };
      execFile("node", program, options, (error, stdout, stderr) =>
        resolve({ code: typeof error?.code === "number" ? error.code : 0, stdout, stderr }),
      );
    });
  }

  /** Runs an operator's command that must work, and answers its JSON document. */
  async adminJson<T = Record<string, unknown>>(...args: string[]): Promise<T> {
    const { code, stdout, stderr } = await this.admin("--json", ...args);
    if (code !== 0) throw new Error(`admin ${args.join(" ")} exited ${code}: ${stderr}`);
    return JSON.parse(stdout);
  }

  /** A bearer token of the account with this email. */
  async token(email: string): Promise<string> {
    const { token } = await this.adminJson<{ token: string }>("token", email);
    return token;
  }
}
