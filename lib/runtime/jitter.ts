/**
 * A whole number from `least` to `most`, both included: clients that are told when to come back must not all come in
 * the same second, after an outage least of all.
 *
 * @param chance - where it lies between the two, at least 0 and less than 1
 */
export function jitter(least: number, most: number, chance: number): number {
  return least + Math.floor(chance * (most - least + 1));
}

/** `Retry-After` (RFC 9110 §10.2.3) of a 503 that will be over soon: 5 to 30 seconds. */
export function retryAfterOutage(chance = Math.random()): { "retry-after": string } {
  return { "retry-after": String(jitter(5, 30, chance)) };
}
