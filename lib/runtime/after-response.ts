/** What a platform offers that would stop a process once it has answered; Next documents it beside `after`. */
type PlatformContext = { get(): { waitUntil?: (work: Promise<unknown>) => void } | undefined };

const contextKey = Symbol.for("@next/request-context");

/** Does work once the answer to the request at hand has been handed over, so that nobody waits for it. */
export function afterResponse(work: () => Promise<unknown>): void {
  const done = new Promise((resolve) => setImmediate(resolve)).then(work);
  const platform = (globalThis as { [contextKey]?: PlatformContext })[contextKey];
  platform?.get()?.waitUntil?.(done);
}
