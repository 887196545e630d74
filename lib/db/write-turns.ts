import { StoreOutage } from "@/lib/db/store-outage";
import { isInBackground } from "@/lib/runtime/background-loop";
import { afterOwnTime } from "@/lib/runtime/timeout";

/** Background work waits for so many writes of requests at most, however many wait. */
const maxInARow = 3;

/** The writes of one process to a file take turns: those of requests first, then those of background work. */
export class WriteTurns {
  private isTaken = false;
  /** How many writes of requests had their turn since background work had one. */
  private inARow = 0;
  private readonly ofRequests = new Set<() => void>();
  private readonly inBackground = new Set<() => void>();

  /** Waits for a turn, which {@link end} ends. Throws a {@link StoreOutage} if none comes within this time. */
  async begin(withinMs: number): Promise<void> {
    if (!this.isTaken) {
      this.isTaken = true;
      return;
    }
    const waiting = isInBackground() ? this.inBackground : this.ofRequests;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    waiting.add(resolve);
    const stop = afterOwnTime(withinMs, () => {
      waiting.delete(resolve);
      reject(new StoreOutage(new Error("the store is locked by other writes")));
    });
    await promise.finally(stop);
  }

  end(): void {
    const isRequests = this.ofRequests.size > 0 && (this.inARow < maxInARow || this.inBackground.size === 0);
    const waiting = isRequests ? this.ofRequests : this.inBackground;
    this.inARow = isRequests ? this.inARow + 1 : 0;
    const [next] = waiting;
    if (!next) this.isTaken = false;
    else {
      waiting.delete(next);
      next();
    }
  }
}
