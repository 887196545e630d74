import { setTimeout as sleep } from "node:timers/promises";
import { StoreOutage } from "@/lib/db/store-outage";
import { isInBackground } from "@/lib/runtime/background-loop";
import { createTimeoutSignal } from "@/lib/runtime/timeout";

const lookAgainMs = 10;

/** The writes of one process to a file take turns: those of requests first, then those of background work. */
export class WriteTurns {
  private isTaken = false;
  private readonly ofRequests = new Set<() => void>();
  private readonly inBackground = new Set<() => void>();

  /** Waits for a turn, which {@link end} ends. Throws a {@link StoreOutage} if none comes within this time. */
  async begin(withinMs: number): Promise<void> {
    if (!this.isTaken) {
      this.isTaken = true;
      return;
    }
    const waiting = isInBackground() ? this.inBackground : this.ofRequests;
    const { signal, stop } = createTimeoutSignal(withinMs);
    await new Promise<void>((resolve, reject) => {
      waiting.add(resolve);
      signal.addEventListener("abort", () => {
        waiting.delete(resolve);
        reject(new StoreOutage(new Error("the store is locked by other writes")));
      });
    }).finally(stop);
  }

  end(): void {
    const waiting = this.ofRequests.size > 0 ? this.ofRequests : this.inBackground;
    const [next] = waiting;
    if (!next) this.isTaken = false;
    else {
      waiting.delete(next);
      next();
    }
  }

  /** In the background, waits until no request waits for its turn. Throws a {@link StoreOutage} after this time. */
  async letRequestsPass(withinMs: number): Promise<void> {
    const untilMs = performance.now() + withinMs;
    while (this.ofRequests.size > 0 && isInBackground()) {
      if (performance.now() > untilMs) throw new StoreOutage(new Error("the store is busy with requests"));
      await sleep(lookAgainMs);
    }
  }
}
