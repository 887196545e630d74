import { clients, hasFailed, type Load, type Sample } from "./load";
import { type Pressed, type Pressure, pressing } from "./pressure";

type Rules = {
  /** One instance is killed: what it was answering is lost, one request of each client at most. */
  mayLose?: boolean;
  /** What every instance needs is away: 503, and nothing else. */
  isOutage?: boolean;
};

type Phase = Rules & { name: string; begunAtMs: number; overAtMs: number; pressed: Pressed };

const head = ["what", "asked", "failed", "lost", "503", "401", "last failure after", "wrk asked", "broken"];

/** How many failures, and how many lines of the logs, are shown of one phase. */
const maxLines = 30;

/** What happens to the fleet under load, one after the other, and what became of the requests meanwhile. */
export class Phases {
  private readonly done: Phase[] = [];

  constructor(
    private readonly load: Load,
    private readonly pressure: Pressure,
  ) {}

  /** Makes something happen, and goes on once it is over and requests are answered as before. */
  async run(name: string, rules: Rules, happen: () => Promise<unknown>): Promise<void> {
    const begunAtMs = Date.now();
    this.load.phase = name;
    const pressed = this.pressure.start();
    await this.load.settle();
    await happen();
    const overAtMs = Date.now();
    await this.load.settle();
    this.done.push({ name, ...rules, begunAtMs, overAtMs, pressed: await pressed.stop() });
  }

  /** A table of all there was, and whether it is as it should be; `explain` what is not, by the logs since then. */
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

  private judge({ name, mayLose = false, isOutage = false, overAtMs, pressed }: Phase) {
    const samples = this.load.samples.filter(({ phase }) => phase === name);
    const failed = samples.filter(hasFailed);
    const count = (is: (sample: Sample) => boolean) => failed.filter(is).length;
    const wrong = count(({ by, status }) => by !== undefined && !(isOutage && status === 503));
    const lost = count(({ by }) => by === undefined);
    const lastMs = Math.max(0, ...failed.map(({ atMs }) => atMs - overAtMs));
    // The kernel closes a killed process's newest connections first, and what it listens on last: who asks again at once
    // may be let in once more, and is lost once more.
    const pressedMayFail = mayLose ? 2 * pressing : 0;
    const holds =
      wrong === 0 &&
      lost <= (mayLose ? clients : 0) &&
      (isOutage || pressed.refused.length <= pressedMayFail) &&
      pressed.broken <= pressedMayFail;
    const counts = [
      samples.length,
      wrong,
      lost,
      count(({ status }) => status === 503),
      count(({ status }) => status === 401),
    ];
    const row = [
      `${holds ? "✓" : "✗"} ${name}`,
      ...counts.map(String),
      `${(lastMs / 1000).toFixed(1)} s`,
      ...[pressed.asked, pressed.broken].map(String),
    ];
    return { row, holds, failures: [...failed.map((sample) => inWords(sample)), ...pressed.refused] };
  }
}

function inWords({ path, status, by = "nobody", said, atMs }: Sample): string {
  return `${new Date(atMs).toISOString()}: ${status} by ${by} at ${path}: ${said}`;
}

function layOut(rows: string[][]): string {
  const widths = head.map((_, n) => Math.max(...rows.map((row) => (row[n] ?? "").length)));
  const lines = rows.map((row) => row.map((cell, n) => cell.padEnd(widths[n] ?? 0)).join("  "));
  return lines.map((line) => `${line.trimEnd()}\n`).join("");
}
