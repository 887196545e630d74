import { Agent, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

/** One request and its outcome. */
export type Sample = {
  path: string;
  phase: string;
  atMs: number;
  /** 0 if the connection broke. */
  status: number;
  /** The instance that responded; `undefined` if the load balancer did, or no one. */
  by: string | undefined;
  /** The response text of a failure. */
  said: string;
};

type Outcome = Pick<Sample, "status" | "by" | "said">;

/** The number of concurrent clients. */
export const clients = 6;
/** At most three requests per second for each path and client: page renders per address are limited. */
const pauseMs = 50;
const patienceMs = 10_000;
const inARow = 60;

/** Requests these paths repeatedly, with several keep-alive clients, until it is stopped. */
export class Load {
  readonly samples: Sample[] = [];
  phase = "";
  private isStopped = false;
  private readonly running: Promise<void>[];

  constructor(
    private readonly port: number,
    private readonly paths: readonly string[],
    private readonly token: string,
  ) {
    this.running = Array.from({ length: clients }, (_, n) => this.run(n));
  }

  /** Waits until a number of consecutive requests, sent from now on, have succeeded. */
  async settle(): Promise<void> {
    const fromMs = Date.now();
    const isSettled = () => {
      const last = this.samples.filter(({ atMs }) => atMs >= fromMs).slice(-inARow);
      return last.length === inARow && !last.some(hasFailed);
    };
    while (!isSettled()) await sleep(50);
  }

  /** Waits until this instance has responded to a request sent from now on. */
  async reach(instance: string): Promise<void> {
    const fromMs = Date.now();
    const isReached = ({ atMs, by, status }: Sample) => atMs >= fromMs && by === instance && status === 200;
    while (!this.samples.some(isReached)) await sleep(50);
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    await Promise.all(this.running);
  }

  private async run(first: number): Promise<void> {
    const agent = new Agent({ keepAlive: true, maxSockets: 1, localAddress: `127.0.9.${first + 1}` });
    for (let n = first; !this.isStopped; n++) {
      const path = this.paths[n % this.paths.length] ?? "/";
      const { phase } = this;
      const atMs = Date.now();
      this.samples.push({ path, phase, atMs, ...(await this.ask(path, agent)) });
      await sleep(pauseMs);
    }
    agent.destroy();
  }

  private ask(path: string, agent: Agent): Promise<Outcome> {
    const headers = { authorization: `Bearer ${this.token}` };
    return new Promise((resolve) => {
      const asked = request({ host: "127.0.0.1", port: this.port, path, agent, headers }, (response) => {
        const by = response.headers["x-served-by"];
        const status = response.statusCode ?? 0;
        let said = "";
        response.setEncoding("utf8").on("data", (chunk) => {
          if (status >= 400) said += chunk;
        });
        response.once("error", ({ message }) => resolve({ status: 0, by: undefined, said: message }));
        response.once("end", () => resolve({ status, by: typeof by === "string" ? by : undefined, said }));
      });
      asked.setTimeout(patienceMs, () => asked.destroy(new Error("no answer")));
      asked.once("error", ({ message }) => resolve({ status: 0, by: undefined, said: message }));
      asked.end();
    });
  }
}

/** Whether a request got no response, or an error status. */
export const hasFailed = ({ status }: Sample) => status === 0 || status >= 400;
