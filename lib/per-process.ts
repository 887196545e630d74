const registryKey = Symbol.for("corner-office");
const process = globalThis as { [registryKey]?: { values: Map<string, unknown> } };
process[registryKey] ??= { values: new Map() };
const registry = process[registryKey];

/**
 * Returns what gives the value with this name, which is created when it is first asked for.
 *
 * Next bundles its middleware and routes separately, and in development our server too. Each bundle has its own copy of a
 * module's variables, so what must exist once per process (the store, a counter) is kept here.
 */
export function perProcess<T>(name: string, make: () => T): () => T {
  let found: { value: T; in: Map<string, unknown> } | undefined;
  return () => {
    const { values } = registry;
    if (found?.in !== values) {
      if (!values.has(name)) values.set(name, make());
      found = { value: values.get(name) as T, in: values };
    }
    return found.value;
  };
}
