import type { Operation, Retirement } from "@/lib/api/operations";

const dayMs = 24 * 60 * 60 * 1000;
/** From the announcement of a retirement to its sunset. */
export const leastNoticeDays = 90;

/**
 * Checks every retirement of a register, at start. Throws an Error naming the operation and the broken
 * rule: 90 days from announcement to sunset, and no sunset before the deprecation (RFC 9745 §4).
 */
export function checkRetirements(register: Record<string, Operation>): void {
  for (const [name, { retirement }] of Object.entries(register)) {
    if (!retirement) continue;
    const announced = Date.parse(retirement.announcedAt);
    const deprecated = Date.parse(retirement.deprecatedAt);
    const sunset = Date.parse(retirement.sunsetAt);
    const refuse = (rule: string) => {
      throw new Error(`The retirement of ${name} ${rule}.`);
    };
    if ([announced, deprecated, sunset].some(Number.isNaN)) refuse("has a date that is not ISO 8601");
    if (sunset < announced + leastNoticeDays * dayMs) {
      refuse(`ends less than ${leastNoticeDays} days after its announcement`);
    }
    if (sunset < deprecated) refuse("ends before its deprecation");
  }
}

/** `Deprecation` (RFC 9745: `@` and Unix seconds), `Sunset` (RFC 8594: an HTTP date) and the guide's link. */
export function retirementHeaders({ deprecatedAt, sunsetAt, guide }: Retirement, appUrl: string) {
  return {
    deprecation: `@${Math.floor(Date.parse(deprecatedAt) / 1000)}`,
    sunset: new Date(sunsetAt).toUTCString(),
    guideLink: `<${appUrl}${guide}>; rel="sunset"; type="text/html"`,
  };
}
