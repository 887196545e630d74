import type { Answer } from "@/tests/support/service";

/** The outcome of a request: answered as wanted, refused for now, or neither. */
export type Call = { kind: string; atMs: number; ms: number; outcome: "good" | "late" | "wrong" };

const refusedForNow = new Set([429, 502, 503, 504]);
/** Of one kind at a time; more are not sent and count as late. */
const maxOpen = 200;

/** Sends requests at fixed rates, however long the answers take, and keeps what became of each. */
export class Calls {
  /** Since they were last taken. */
  private made: Call[] = [];
  /** Every answer that was neither wanted nor a refusal for now, in words. */
  readonly wrong: string[] = [];
  /** How often each kind got the wanted answer since the start. */
  readonly done = new Map<string, number>();
  private readonly timers: NodeJS.Timeout[] = [];

  take(): Call[] {
    return this.made.splice(0);
  }

  /** Does this so many times a second until {@link stop}. */
  repeat(kind: string, perSecond: number, act: (n: number) => Promise<unknown>): void {
    let [n, open] = [0, 0];
    const begin = async () => {
      if (open >= maxOpen) return void this.note(kind, performance.now(), "late");
      open++;
      await act(n++).catch(({ message }: Error) => this.sayWrong(kind, message));
      open--;
    };
    this.timers.push(setInterval(begin, 1000 / perSecond));
  }

  stop(): void {
    for (const timer of this.timers) clearInterval(timer);
  }

  /** Sends one request. Returns its answer if that is the wanted one. */
  async send(
    kind: string,
    ask: () => Promise<Answer>,
    isWanted: (answer: Answer) => boolean = ({ status }) => status === 200,
  ): Promise<Answer | undefined> {
    const startedAt = performance.now();
    const answer = await ask();
    const { status, headers, text } = answer;
    if (isWanted(answer)) {
      this.note(kind, startedAt, "good");
      return answer;
    }
    if (refusedForNow.has(status) || headers.location?.includes("problem=unavailable")) {
      this.note(kind, startedAt, "late");
    } else {
      this.sayWrong(kind, `${status} ${headers.location ?? text.slice(0, 200)}`, startedAt);
    }
    return undefined;
  }

  /** Keeps what became of a request that was sent at this time of the monotonic clock. */
  note(kind: string, startedAt: number, outcome: Call["outcome"]): void {
    if (outcome === "good") this.done.set(kind, (this.done.get(kind) ?? 0) + 1);
    this.made.push({ kind, atMs: Date.now(), ms: performance.now() - startedAt, outcome });
  }

  private sayWrong(kind: string, words: string, startedAt = performance.now()): void {
    this.note(kind, startedAt, "wrong");
    this.wrong.push(`${new Date().toISOString()} ${kind}: ${words}`);
  }
}
