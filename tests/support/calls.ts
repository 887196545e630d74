import { setTimeout as sleep } from "node:timers/promises";
import type { Answer } from "@/tests/support/service";

/** The outcome of a request: answered as wanted, refused for now, or neither. */
export type Call = { kind: string; atMs: number; ms: number; outcome: "good" | "late" | "wrong" };

const refusedForNow = new Set([429, 502, 503, 504]);
/** Of one kind at a time; more are not sent and count as late. */
const maxOpen = 200;

/** Sends requests until it is stopped, and keeps what became of each. */
export class Calls {
  /** Since they were last taken. */
  made: Call[] = [];
  /** Every answer that was neither wanted nor a refusal for now, in words. */
  readonly wrong: string[] = [];
  /** How often each kind got the wanted answer since the start. */
  readonly done = new Map<string, number>();
  isStopped = false;
  private readonly timers: NodeJS.Timeout[] = [];
  private readonly open = new Set<Promise<void>>();

  take(): Call[] {
    return this.made.splice(0);
  }

  /** Does this so many times a second, however long it takes. */
  repeat(kind: string, perSecond: number, act: (n: number) => Promise<unknown>): void {
    let [n, open] = [0, 0];
    const begin = () => {
      if (open >= maxOpen) return this.note(kind, performance.now(), "late");
      open++;
      this.hold(kind, act(n++)).finally(() => open--);
    };
    this.timers.push(setInterval(begin, 1000 / perSecond));
  }

  /** Does this again and again, with pauses. */
  loop(kind: string, pauseMs: number, act: () => Promise<unknown>): void {
    const work = async () => {
      for (; !this.isStopped; await sleep(pauseMs)) await act();
    };
    void this.hold(kind, work());
  }

  /** Resolves when what is under way has ended, too. */
  async stop(): Promise<void> {
    this.isStopped = true;
    for (const timer of this.timers) clearInterval(timer);
    await Promise.all(this.open);
  }

  /** Waits until each of these kinds got the wanted answer from now on. */
  async settle(kinds: readonly string[]): Promise<void> {
    const fromMs = Date.now();
    const isBack = (kind: string) =>
      this.made.some((call) => call.kind === kind && call.outcome === "good" && call.atMs >= fromMs);
    while (!kinds.every(isBack)) await sleep(100);
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
    const isLate =
      refusedForNow.has(status) ||
      headers.location?.includes("problem=unavailable") ||
      // Stripe delivers the event again.
      text.includes('"fulfilment_failed"');
    if (isLate) this.note(kind, startedAt, "late");
    else this.sayWrong(kind, `${status} ${headers.location ?? text.slice(0, 200)}`, startedAt);
    return undefined;
  }

  /** Keeps what became of a request that was sent at this time of the monotonic clock. */
  note(kind: string, startedAt: number, outcome: Call["outcome"]): void {
    if (outcome === "good") this.done.set(kind, (this.done.get(kind) ?? 0) + 1);
    this.made.push({ kind, atMs: Date.now(), ms: performance.now() - startedAt, outcome });
  }

  sayWrong(kind: string, words: string, startedAt = performance.now()): void {
    this.note(kind, startedAt, "wrong");
    this.wrong.push(`${new Date().toISOString()} ${kind}: ${words}`);
  }

  private hold(kind: string, work: Promise<unknown>): Promise<void> {
    const held = work
      .catch(({ message }: Error) => this.sayWrong(kind, message))
      .then(() => void this.open.delete(held));
    this.open.add(held);
    return held;
  }
}
