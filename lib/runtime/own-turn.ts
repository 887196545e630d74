import { perProcess } from "@/lib/per-process";

const line = perProcess("turns of the event loop", () => ({ last: Promise.resolve() }));

/**
 * Waits for a turn of the event loop that no one else gets, first come first served. Work that takes milliseconds then
 * holds up whatever else has arrived once, and not as often as there is such work.
 */
export function ownTurn(): Promise<void> {
  const places = line();
  places.last = places.last.then(() => new Promise((resolve) => setImmediate(resolve)));
  return places.last;
}
