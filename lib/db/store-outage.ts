import { TimeoutError } from "@/lib/runtime/timeout";

/** The store did not do what it was asked, and may later: it is away, slow, full, or accepts no writes. */
export class StoreOutage extends Error {
  override readonly name = "StoreOutage";

  /** @param isUnknown - whether a commit was sent and not answered, so that it may have been done */
  constructor(
    cause: unknown,
    readonly isUnknown = false,
  ) {
    super((cause as Error).message, { cause });
  }
}

/** Whether what failed may have been done all the same. */
export const isUnknownOutcome = (failure: unknown): boolean =>
  isOutage(failure) && (failure as Partial<StoreOutage>).isUnknown === true;

/** Whether something failed by an outage, and not by our mistake. By its name: Next bundles a module several times. */
export function isOutage(failure: unknown): boolean {
  return failure instanceof TimeoutError || (failure instanceof Error && failure.name === "StoreOutage");
}
