/**
 * A whole number from `min` to `max`, both included. It spreads the retries of clients, so that they do not all come
 * back in the same second after an outage.
 *
 * @param chance - the position between the two, at least 0 and less than 1
 */
export function jitter(min: number, max: number, chance: number): number {
  return min + Math.floor(chance * (max - min + 1));
}

/** `Retry-After` (RFC 9110 §10.2.3) for a 503 that is expected to end soon: 5 to 30 seconds. */
export function retryAfterOutage(chance = Math.random()): { "retry-after": string } {
  return { "retry-after": String(jitter(5, 30, chance)) };
}
