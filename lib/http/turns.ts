import { type TurnBounds, turnBounds } from "@/lib/config/limits";
import { ApiError, tooManyRequests } from "@/lib/http/errors";
import { perProcess } from "@/lib/per-process";
import type { Circle, Circles } from "@/lib/rate-limit/client";
import { ownTurn } from "@/lib/runtime/own-turn";

const maxCountedMs = 20; // of one turn: some of it may be others' work

/** Too many wait in all, or this one has waited for too long. */
const overloaded = new ApiError("unavailable", {
  reason: "overloaded",
  message: "The service has too many requests at the moment.",
  headers: { "retry-after": "2" },
});

/** Our status for a client that left before its turn. No one receives it. */
const clientLeft = new ApiError("unavailable", { status: 499 });

type Waiter = { network: Share; begin: () => void; refuse: (reason: ApiError) => void };

/** What a circle of senders has of the turns. */
class Share {
  running = 0;
  waiting = 0;
  /** The one whose turn was longest ago first. */
  readonly within = new Map<Circle, Share>();
  readonly waiters = new Set<Waiter>();
  private restsUntilMs = 0;
  private isTimed = false;

  constructor(
    private readonly atOnce: number,
    private readonly around?: Share,
    private readonly circle: Circle = "",
  ) {}

  of(circle: Circle, atOnce: number): Share {
    const share = this.within.get(circle) ?? new Share(atOnce, this, circle);
    this.within.set(circle, share);
    return share;
  }

  get isFull(): boolean {
    return this.running >= this.atOnce || this.restMs > 0;
  }

  private get restMs(): number {
    return this.restsUntilMs - performance.now();
  }

  /** Rests after work, for so long on average: what it has not used lately counts, up to `aheadMs`. */
  rest(ms: number, aheadMs: number): void {
    this.restsUntilMs = Math.max(this.restsUntilMs, performance.now() - aheadMs) + ms;
  }

  /** A timer may run up to a millisecond early: what it calls asks again. */
  afterRest(then: () => void): void {
    const { restMs } = this;
    if (this.isTimed || !(restMs > 0)) return;
    this.isTimed = true;
    const wakeUp = () => {
      this.isTimed = false;
      then();
    };
    setTimeout(wakeUp, Math.ceil(restMs));
  }

  /** Begins a turn, and goes behind all others of the circle around. */
  begin(): void {
    this.running++;
    this.around?.within.delete(this.circle);
    this.around?.within.set(this.circle, this);
  }

  forgetUnused(): void {
    const isUsed = this.running + this.waiting + this.within.size > 0 || this.restMs > 0;
    if (!isUsed && this.around?.within.get(this.circle) === this) this.around.within.delete(this.circle);
  }

  /** Who is next, if a turn is free. */
  next(): Waiter | undefined {
    if (this.waiting === 0 || this.isFull) return undefined;
    const [first] = this.waiters;
    if (first) return first;
    for (const share of this.within.values()) {
      const waiter = share.next();
      if (waiter) return waiter;
    }
    return undefined;
  }

  /** The latest one that waits in the largest share within. */
  latest(): Waiter | undefined {
    let largest: Share | undefined;
    for (const share of this.within.values()) if (share.waiting >= (largest?.waiting ?? 0)) largest = share;
    return largest ? largest.latest() : [...this.waiters].at(-1);
  }
}

/** The turns of this process for one kind of work. */
export const turnsOf = (work: keyof typeof turnBounds) =>
  perProcess(`turns of ${work}`, () => new Turns(turnBounds[work]))();

/**
 * Runs a few tasks at once; the others wait. A free turn goes round: to known browsers and strangers alternately, among the
 * networks of these, and among the clients of a network. When too many wait, the latest of the largest share is refused: a
 * share grows only as far as others leave theirs unused. Where the work is the processor's, turns have a pace as well.
 */
export class Turns {
  private readonly all: Share;

  constructor(private readonly bounds: TurnBounds) {
    this.all = new Share(bounds.atOnce);
  }

  /**
   * Runs the task in the sender's turn. Throws a 503 "overloaded" if too many wait or the wait is too long, a 429 if others
   * of its network wait too, and whatever the task throws.
   *
   * @param signal - aborts when no one needs the result: a task that has not begun is dropped
   */
  async run<T>(circles: Circles, signal: AbortSignal, work: () => T | Promise<T>): Promise<T> {
    if (signal.aborted) throw clientLeft;
    const { atOnceOfKnown, atOnceOfNetwork } = this.bounds;
    const known = this.all.of(circles.known, atOnceOfKnown);
    const network = known.of(circles.network, atOnceOfNetwork);
    const path = [this.all, known, network, network.of(circles.client, atOnceOfNetwork)];
    if (path.some(({ isFull }) => isFull)) await this.wait(path, signal);
    else for (const share of path) share.begin();
    const { pace } = this.bounds;
    if (pace) await ownTurn();
    const beganAtMs = performance.now();
    try {
      return await work();
    } finally {
      for (const share of path) share.running--;
      const tookMs = Math.min(performance.now() - beganAtMs, maxCountedMs);
      if (pace) {
        this.all.rest(pace.all * tookMs, pace.aheadMs);
        network.rest(pace.network * tookMs, pace.aheadMs);
      }
      this.goOn(path);
    }
  }

  private goOn(path: readonly Share[]): void {
    for (const share of path) share.afterRest(() => this.goOn(path));
    for (const share of path.toReversed()) share.forgetUnused();
    for (let next = this.all.next(); next; next = this.all.next()) next.begin();
  }

  private wait(path: readonly Share[], signal: AbortSignal): Promise<void> {
    const [network, client] = path.slice(-2) as [Share, Share];
    return new Promise((begin, refuse) => {
      const leave = (then: () => void) => {
        if (!client.waiters.delete(waiter)) return;
        clearTimeout(timer);
        for (const share of path) share.waiting--;
        then();
      };
      const waiter: Waiter = {
        network,
        begin: () =>
          leave(() => {
            for (const share of path) share.begin();
            begin();
          }),
        refuse: (reason) =>
          leave(() => {
            for (const share of path.toReversed()) share.forgetUnused();
            refuse(reason);
          }),
      };
      const timer = setTimeout(waiter.refuse, this.bounds.waitMs, overloaded);
      signal.addEventListener("abort", () => waiter.refuse(clientLeft));
      client.waiters.add(waiter);
      for (const share of path) share.waiting++;
      if (this.all.waiting <= this.bounds.waiting) return;
      const last = this.all.latest();
      last?.refuse(last.network.waiting > 1 ? tooManyRequests() : overloaded);
    });
  }
}
