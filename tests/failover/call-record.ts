import { setTimeout as sleep } from "node:timers/promises";
import type { Answer } from "@/tests/support/service";

/** The calls. */
export type Kind = "unsubscribe" | "join" | "sign-in" | "refresh" | "purchase" | "command";

/** How long a caller waits before it sends a refused request again, in the manner of a person at a form. */
const againAfterMs = 1500;

/** The answers that callers got in one run, as they understood them. */
export class CallRecord {
  /** When a write was acknowledged, and when a request got no more than "try again". */
  readonly acknowledged: { kind: Kind; atMs: number }[] = [];
  readonly late: { kind: Kind | "read"; atMs: number }[] = [];
  /** Every answer that was wrong rather than late, in words. */
  readonly wrong: string[] = [];
  isStopped = false;

  /** Does this again and again, with pauses, until the record is stopped. */
  async repeat(pauseMs: number, act: (n: number) => Promise<void>): Promise<void> {
    for (let n = 0; !this.isStopped; n++) {
      await act(n);
      await sleep(pauseMs);
    }
  }

  /** Sends a request once. Returns its answer if it is the wanted one; else what it is, which is recorded. */
  async once(
    kind: Kind | "read",
    send: () => Promise<Answer>,
    isWanted: (answer: Answer) => boolean,
  ): Promise<Answer | "late" | "wrong"> {
    const answer = await send().catch(({ message }: Error) => message);
    if (typeof answer === "string") return this.say(kind, `no answer: ${answer}`);
    if (isWanted(answer)) return answer;
    const { status, headers, text } = answer;
    const isLate =
      [502, 503, 504].includes(status) ||
      /problem=unavailable/.test(headers.location ?? "") ||
      // Stripe delivers the event again.
      text.includes('"fulfilment_failed"');
    if (!isLate) return this.say(kind, `${status} ${headers.location ?? text.slice(0, 300)}`);
    this.late.push({ kind, atMs: Date.now() });
    return "late";
  }

  /** Sends a request until the answer is the wanted one; `undefined` if it is wrong, or if the record is stopped. */
  async untilDone(
    kind: Kind,
    send: () => Promise<Answer>,
    isWanted: (answer: Answer) => boolean,
  ): Promise<Answer | undefined> {
    while (!this.isStopped) {
      const answer = await this.once(kind, send, isWanted);
      if (answer === "wrong") return undefined;
      if (answer !== "late") return answer;
      await sleep(againAfterMs);
    }
    return undefined;
  }

  /** Records that the service acknowledged a write. */
  acknowledge(kind: Kind): void {
    this.acknowledged.push({ kind, atMs: Date.now() });
  }

  /** Records something wrong. */
  say(kind: Kind | "mail" | "read", words: string): "wrong" {
    this.wrong.push(`${new Date().toISOString()} ${kind}: ${words}`);
    return "wrong";
  }

  /** Waits until every one of these kinds was acknowledged from now on. */
  async settle(kinds: readonly Kind[]): Promise<void> {
    const fromMs = Date.now();
    const isBack = (kind: Kind) =>
      this.acknowledged.some((write) => write.kind === kind && write.atMs >= fromMs);
    while (!kinds.every(isBack)) await sleep(100);
  }
}
