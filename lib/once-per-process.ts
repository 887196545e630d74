const shelfKey = Symbol.for("corner-office");
const process = globalThis as { [shelfKey]?: Map<string, unknown> };
process[shelfKey] ??= new Map();
const shelf = process[shelfKey];

/**
 * The one value of that name in this process, made at first asking.
 *
 * Next's middleware and its routes are bundles of their own, as is, while the pages are worked on, the front server
 * beside them: a module's own variable would exist in each. What must be one (the store, a counter) is kept here.
 */
export function oncePerProcess<T>(name: string, make: () => T): T {
  const kept = shelf.get(name) as T | undefined;
  if (kept !== undefined || shelf.has(name)) return kept as T;
  const made = make();
  shelf.set(name, made);
  return made;
}
