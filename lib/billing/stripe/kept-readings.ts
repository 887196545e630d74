import { StripeFailure } from "@/lib/billing/stripe/calls";
import { answersWithinMs } from "@/lib/config/limits";
import { isInBackground } from "@/lib/runtime/background-loop";
import { log } from "@/lib/runtime/log";
import { RecentCache } from "@/lib/runtime/recent-cache";
import { withTimeout } from "@/lib/runtime/timeout";

const retryAfterMs = 30_000; // 30 seconds, so that no page waits for Stripe each time

/** The last hundreds of things that were read at Stripe, by their keys: one call serves all who ask meanwhile. */
export class KeptReadings<T> {
  private readonly kept = new RecentCache<{ answer: Promise<T>; untilMs: number; hasFailed?: true }>(1000);

  constructor(private readonly keptMs: number) {}

  /**
   * Returns what is kept, or asks. A failure is kept for 30 seconds, unless Stripe was not asked at all. What is fulfilled asks
   * again at once: a page's failure delays no purchase.
   */
  read(key: string, nowMs: number, ask: () => Promise<T>): Promise<T> {
    const known = this.kept.get(key);
    if (known && nowMs < known.untilMs && !(known.hasFailed && isInBackground())) return known.answer;
    const reading: NonNullable<typeof known> = { answer: ask(), untilMs: nowMs + this.keptMs };
    reading.answer.catch((failure) => {
      reading.hasFailed = true;
      const isBusy = failure instanceof StripeFailure && failure.code === "busy";
      reading.untilMs = isBusy ? 0 : nowMs + retryAfterMs;
      log().warn({ err: failure, reading: key }, "Stripe could not be read for a page");
    });
    this.kept.set(key, reading);
    return reading.answer;
  }
}

/** A reading as a page shows it: `undefined` if it fails or takes long. It then goes on, for the next page. */
export function readForPage<T>(reading: Promise<T>): Promise<T | undefined> {
  return withTimeout(answersWithinMs.stripeForPage, reading).catch(() => undefined);
}
