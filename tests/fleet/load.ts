import { Agent, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

/** One request that was asked, and what became of it. */
export type Sample = {
  path: string;
  phase: string;
  atMs: number;
  /** 0 where the connection broke. */
  status: number;
  /** The instance that answered; none where the balancer did, or nobody. */
  by: string | undefined;
  /** What it said, where it failed. */
  said: string;
};

type Outcome = Pick<Sample, "status" | "by" | "said">;

/** How many ask at once. */
export const clients = 6;
/** Each asks for each path no more than three times a second: what one address may have rendered is bounded. */
const pauseMs = 50;
const patienceMs = 10_000;
const inARow = 60;

/** Asks for these paths again and again, as several clients that keep their connections, until it is stopped. */
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

  /** Waits until so many requests in a row, asked from now on, went well. */
  async settle(): Promise<void> {
    const fromMs = Date.now();
    const isSettled = () => {
      const last = this.samples.filter(({ atMs }) => atMs >= fromMs).slice(-inARow);
      return last.length === inARow && !last.some(hasFailed);
    };
    while (!isSettled()) await sleep(50);
  }

  /** Waits until this instance has answered a request that was asked from now on. */
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

/** Whether a request was not answered, or refused. */
export const hasFailed = ({ status }: Sample) => status === 0 || status >= 400;
