const registryKey = Symbol.for("corner-office");
const process = globalThis as { [registryKey]?: { values: Map<string, unknown> } };
process[registryKey] ??= { values: new Map() };
const registry = process[registryKey];

/**
 * Returns the value with this name, created on first use.
 *
 * Next bundles its middleware and routes separately, and in development our server too. Each bundle has its own copy of a
 * module's variables, so what must exist once per process (the store, a counter) is kept here.
 */
export function processSingleton<T>(name: string, make: () => T): T {
  const { values } = registry;
  const kept = values.get(name) as T | undefined;
  if (kept !== undefined || values.has(name)) return kept as T;
  const made = make();
  values.set(name, made);
  return made;
}

/** The same for what every request needs several times: it is looked up once. */
export function perProcess<T>(name: string, make: () => T): () => T {
  let found: { value: T; in: Map<string, unknown> } | undefined;
  return () => {
    if (found?.in !== registry.values) found = { value: processSingleton(name, make), in: registry.values };
    return found.value;
  };
}
