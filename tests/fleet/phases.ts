import { layOut } from "@/tests/support/table";
import { clients, hasFailed, type Load, type Sample } from "./load";

type Rules = {
  /** One instance is killed: each client may lose at most one request. */
  mayLose?: boolean;
  /** A dependency of every instance is unavailable: only 503 is allowed. */
  isOutage?: boolean;
};

type Phase = Rules & { name: string; begunAtMs: number; overAtMs: number };

const head = ["what", "asked", "failed", "lost", "503", "401", "last failure after"];

/** The maximum number of failures, and of log lines, shown per phase. */
const maxLines = 30;

/** The events of the fleet under load, in sequence, and the outcomes of the requests during each. */
export class Phases {
  private readonly done: Phase[] = [];

  constructor(private readonly load: Load) {}

  /** Runs an event, and waits until it has ended and requests succeed again. */
  async run(name: string, rules: Rules, happen: () => Promise<unknown>): Promise<void> {
    const begunAtMs = Date.now();
    this.load.phase = name;
    await this.load.settle();
    await happen();
    const overAtMs = Date.now();
    await this.load.settle();
    this.done.push({ name, ...rules, begunAtMs, overAtMs });
  }

  /** A table of all phases, and whether all hold; `explain` returns the log lines of a failed phase. */
  report(explain: (fromMs: number, untilMs: number) => string[]): { table: string; holds: boolean } {
    const judged = this.done.map((phase) => this.judge(phase));
    for (const [n, { holds, failures }] of judged.entries()) {
      const { name, begunAtMs } = this.done[n] as Phase;
      const untilMs = this.done[n + 1]?.begunAtMs ?? Date.now();
      const why = holds ? [] : [failures, explain(begunAtMs, untilMs)];
      for (const line of why.flatMap((lines) => lines.slice(0, maxLines)))
        process.stderr.write(`${name}: ${line}\n`);
    }
    return {
      table: layOut([head, ...judged.map(({ row }) => row)]),
      holds: judged.every(({ holds }) => holds),
    };
  }

  private judge({ name, mayLose = false, isOutage = false, overAtMs }: Phase) {
    const samples = this.load.samples.filter(({ phase }) => phase === name);
    const failed = samples.filter(hasFailed);
    const count = (is: (sample: Sample) => boolean) => failed.filter(is).length;
    const wrong = count(({ by, status }) => by !== undefined && !(isOutage && status === 503));
    const lost = count(({ by }) => by === undefined);
    const lastMs = Math.max(0, ...failed.map(({ atMs }) => atMs - overAtMs));
    const holds = wrong === 0 && lost <= (mayLose ? clients : 0);
    const counts = [
      samples.length,
      wrong,
      lost,
      count(({ status }) => status === 503),
      count(({ status }) => status === 401),
    ];
    const row = [`${holds ? "✓" : "✗"} ${name}`, ...counts.map(String), `${(lastMs / 1000).toFixed(1)} s`];
    return { row, holds, failures: failed.map((sample) => describe(sample)) };
  }
}

function describe({ path, status, by = "no instance", said, atMs }: Sample): string {
  return `${new Date(atMs).toISOString()}: ${status} by ${by} at ${path}: ${said}`;
}
