const registryKey = Symbol.for("corner-office");
const process = globalThis as { [registryKey]?: Map<string, unknown> };
process[registryKey] ??= new Map();
const registry = process[registryKey];

/**
 * Returns the value with this name, created on first use.
 *
 * Next bundles its middleware and routes separately, and in development our server too. Each bundle has its own copy of a
 * module's variables, so what must exist once per process (the store, a counter) is kept here.
 */
export function processSingleton<T>(name: string, make: () => T): T {
  const kept = registry.get(name) as T | undefined;
  if (kept !== undefined || registry.has(name)) return kept as T;
  const made = make();
  registry.set(name, made);
  return made;
}
