const registryKey = Symbol.for("corner-office");
const process = globalThis as { [registryKey]?: Map<string, unknown> };
process[registryKey] ??= new Map();
const registry = process[registryKey];

/**
 * The one value of that name in this process, made at first asking.
 *
 * Next's middleware and its routes are bundles of their own, as is, while the pages are worked on, the front server
 * beside them: a module's own variable would exist in each. What must be one (the store, a counter) is kept here.
 */
export function processSingleton<T>(name: string, make: () => T): T {
  const kept = registry.get(name) as T | undefined;
  if (kept !== undefined || registry.has(name)) return kept as T;
  const made = make();
  registry.set(name, made);
  return made;
}
