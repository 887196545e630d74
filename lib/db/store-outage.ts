import { TimeoutError } from "@/lib/runtime/timeout";

/** The store did not do what it was asked, and may later: it is away, slow, full, or accepts no writes. */
export class StoreOutage extends Error {
  override readonly name = "StoreOutage";

  constructor(cause: unknown) {
    super((cause as Error).message, { cause });
  }
}

/** Whether something failed by an outage, and not by our mistake. By its name: Next bundles a module several times. */
export function isOutage(failure: unknown): boolean {
  return failure instanceof TimeoutError || (failure instanceof Error && failure.name === "StoreOutage");
}
