const key = Symbol.for("corner-office tests");
const worker = globalThis as { [key]?: Map<string, unknown> };

/** A value made once per test process, even though each test file loads its modules anew. */
export function oncePerWorker<T>(name: string, make: () => T): T {
  const kept = worker[key] ?? new Map<string, unknown>();
  worker[key] = kept;
  if (!kept.has(name)) kept.set(name, make());
  return kept.get(name) as T;
}
