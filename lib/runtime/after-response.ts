/** The global under which a platform offers `waitUntil`: Next's documentation does not promise its name. */
export const platformContext = Symbol.for("@next/request-context");

/** The context of a platform that stops a process after its response; Next documents it together with `after`. */
type PlatformContext = { get(): { waitUntil?: (work: Promise<unknown>) => void } | undefined };

/** Runs work after the current response has been sent, so that no one waits for it. */
export function afterResponse(work: () => Promise<unknown>): void {
  const done = new Promise((resolve) => setImmediate(resolve)).then(work);
  const platform = (globalThis as { [platformContext]?: PlatformContext })[platformContext];
  platform?.get()?.waitUntil?.(done);
}
