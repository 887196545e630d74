/**
 * A whole number from `min` to `max`, both included. It spreads the retries of clients, so that they do not all come
 * back in the same second after an outage.
 *
 * @param chance - the position between the two, at least 0 and less than 1
 */
export function jitter(min: number, max: number, chance: number): number {
  return min + Math.floor(chance * (max - min + 1));
}
