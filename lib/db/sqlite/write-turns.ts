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
  private waiting: { isRequests: boolean; go: () => void }[] = [];

  /** Waits for a turn, which {@link end} ends. Throws a {@link StoreOutage} if none comes within this time. */
  async begin(withinMs: number): Promise<void> {
    if (!this.isTaken) {
      this.isTaken = true;
      return;
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const write = { isRequests: !isInBackground(), go: resolve };
    this.waiting.push(write);
    const stop = afterOwnTime(withinMs, () => {
      this.waiting = this.waiting.filter((other) => other !== write);
      reject(new StoreOutage(new Error("the store is locked by other writes")));
    });
    await promise.finally(stop);
  }

  end(): void {
    const isRequestsTurn = this.inARow < maxInARow;
    const at = this.waiting.findIndex(({ isRequests }) => isRequests === isRequestsTurn);
    const [next] = this.waiting.splice(Math.max(at, 0), 1);
    this.isTaken = next !== undefined;
    this.inARow = next?.isRequests ? this.inARow + 1 : 0;
    next?.go();
  }
}
