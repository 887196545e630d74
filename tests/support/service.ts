import { type ChildProcess, execFile, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { type IncomingHttpHeaders, request as sendRequest } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "@/tests/support/databases";

export type Environment = Record<string, string>;

/** An answer as it came over the wire. */
export type Answer = { status: number; headers: IncomingHttpHeaders; text: string };

type Ask = {
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
  private child: ChildProcess | undefined;

  private constructor(
    readonly environment: Environment,
    readonly port: number,
  ) {
    this.url = environment.APP_URL ?? `http://localhost:${port}`;
  }

  /** Starts it with these settings and nothing else of this machine's environment. */
  static async start(environment: Environment = {}): Promise<Service> {
    const port = Number(environment.PORT) || (await freePort());
    const dataDir = mkdtempSync(join(tmpdir(), "corner-office-"));
    const service = new Service(
      {
        PATH: process.env.PATH ?? "",
        NODE_ENV: "production",
        PORT: String(port),
        DATA_DIR: dataDir,
        ...environment,
      },
      port,
    );
    await service.run();
    return service;
  }

  get dataDir(): string {
    return this.environment.DATA_DIR ?? "";
  }

  /** Starts the process, again after a {@link kill}, and waits until it listens. */
  async run(): Promise<void> {
    const child = spawn("node", ["dist/front/main.js"], { env: this.environment as NodeJS.ProcessEnv });
    this.child = child;
    await new Promise<void>((resolve, reject) => {
      child.stderr.on("data", (chunk) => {
        this.log += chunk;
        if (this.log.includes('"msg":"listening"')) resolve();
      });
      child.once("exit", (code) => reject(new Error(`The service ended with ${code}: ${this.log}`)));
    });
  }

  /** Stops it as an operator would, and answers its exit code. Fails when it logged an error nobody expected. */
  async stop({ expectErrors = false } = {}): Promise<number | null> {
    const code = await this.end("SIGTERM");
    rmSync(this.dataDir, { recursive: true, force: true });
    const errors = this.log.split("\n").filter((line) => line.includes('"level":"error"'));
    if (!expectErrors && errors.length > 0)
      throw new Error(`The service logged errors:\n${errors.join("\n")}`);
    return code;
  }

  /** Ends it with no warning; its data folder stays. */
  async kill(): Promise<void> {
    await this.end("SIGKILL");
  }

  private end(signal: NodeJS.Signals): Promise<number | null> {
    return new Promise((resolve) => {
      this.child?.removeAllListeners("exit").once("exit", resolve);
      this.child?.kill(signal);
    });
  }

  /** Sends one request, path and headers exactly as given. */
  ask(path: string, { method = "GET", headers = {}, body, from }: Ask = {}): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const options = { host: "127.0.0.1", port: this.port, path, method, headers, agent: false };
      const request = sendRequest({ ...options, ...(from ? { localAddress: from } : {}) }, (response) => {
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

  /** Writes bytes to the socket and answers everything that came back until it closed. */
  send(bytes: string): Promise<string> {
    return new Promise((resolve, reject) => {
      let received = "";
      const socket = connect(this.port, "127.0.0.1", () => socket.write(bytes));
      socket.setEncoding("utf8").on("data", (chunk) => {
        received += chunk;
      });
      socket.once("close", () => resolve(received)).once("error", reject);
    });
  }

  /** Runs an operator's command beside the running server, with the same settings. */
  admin(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
    return new Promise((resolve) => {
      const env = this.environment as NodeJS.ProcessEnv;
      execFile("node", ["dist/admin/main.js", ...args], { env }, (error, stdout, stderr) =>
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
