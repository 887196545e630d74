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

/** Whether something failed by an outage of the store. By its name: Next bundles a module several times. */
export const isStoreOutage = (failure: unknown): failure is StoreOutage =>
  failure instanceof Error && failure.name === "StoreOutage";

/** Whether what failed may have been done all the same. */
export const isUnknownOutcome = (failure: unknown): boolean => isStoreOutage(failure) && failure.isUnknown;

/** Whether something failed by an outage, and not by our mistake. */
export const isOutage = (failure: unknown): boolean =>
  failure instanceof TimeoutError || isStoreOutage(failure);
