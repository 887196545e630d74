const key = Symbol.for("corner-office tests");
const worker = globalThis as { [key]?: Map<string, unknown> };

/** What a process that runs tests has once, however many files it runs and however often it loads their modules. */
export function oncePerWorker<T>(name: string, make: () => T): T {
  const kept = worker[key] ?? new Map<string, unknown>();
  worker[key] = kept;
  if (!kept.has(name)) kept.set(name, make());
  return kept.get(name) as T;
}
