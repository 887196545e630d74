const shelfKey = Symbol.for("corner-office");
const process = globalThis as { [shelfKey]?: Map<string, unknown> };
process[shelfKey] ??= new Map();
const shelf = process[shelfKey];

/**
 * The one value of that name in this process, made at first asking.
 *
 * The front server and Next's pages are two bundles in one process, so a module's own variable would
 * exist twice; what must be one (the store, a counter) is kept here.
 */
export function oncePerProcess<T>(name: string, make: () => T): T {
  const kept = shelf.get(name) as T | undefined;
  if (kept !== undefined) return kept;
  const made = make();
  shelf.set(name, made);
  return made;
}
