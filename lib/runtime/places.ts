import { isInBackground } from "@/lib/runtime/background-loop";
import { afterOwnTime } from "@/lib/runtime/timeout";

/** Background work waits for the work of so many requests at most, however much of it waits. */
const maxInARow = 3;

const kinds = ["requests", "background"] as const;
type Kind = (typeof kinds)[number];

/** Places for work, of which only so much is done at once: first what requests wait for, then background work. */
export class Places {
  private taken = 0;
  /** How much work of requests has had its turn since background work had one. */
  private inARow = 0;
  private readonly lines: Record<Kind, (() => void)[]> = { requests: [], background: [] };

  /**
   * @param most - how much is done at once at most; background work begins only while less than its own maximum is
   * @param maxWaiting - how much of each of the two waits at most
   */
  constructor(
    private readonly most: Record<Kind, number>,
    private readonly bounds: { maxWaiting: number } = { maxWaiting: Number.POSITIVE_INFINITY },
  ) {}

  /** Waits for a place, which {@link end} gives back. Throws what `refuse` makes if none is free in time, or too many wait. */
  async begin(withinMs: Record<Kind, number>, refuse: () => Error): Promise<void> {
    const kind = isInBackground() ? "background" : "requests";
    const line = this.lines[kind];
    if (line.length === 0 && this.isFree(kind)) {
      this.taken++;
      return;
    }
    if (line.length >= this.bounds.maxWaiting) throw refuse();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    line.push(resolve);
    const stop = afterOwnTime(withinMs[kind], () => {
      line.splice(line.indexOf(resolve), 1);
      reject(refuse());
    });
    await promise.finally(stop);
  }

  end(): void {
    this.taken--;
    const inTurn = this.inARow < maxInARow ? kinds : kinds.toReversed();
    const next = inTurn.find((kind) => this.lines[kind].length > 0 && this.isFree(kind));
    this.inARow = next === "requests" ? this.inARow + 1 : 0;
    if (!next) return;
    this.taken++;
    this.lines[next].shift()?.();
  }

  private isFree(kind: Kind): boolean {
    return this.taken < this.most[kind];
  }
}
