import * as z from "zod";
import { dayMs } from "@/lib/config/durations";
import { settings } from "@/lib/config/settings";
import { ApiError } from "@/lib/http/errors";
import { type Operation, operations, version1 } from "@/lib/http/operations";
import type { Retirement, Route } from "@/lib/http/route";

/** The minimum time from the announcement of a retirement to its sunset. */
export const minNoticeDays = 90;

const operationPaths = new Set<string>(Object.values(operations).map(({ path }) => path));

/** Every retirement, by what is retired. */
export function listRetirements(
  register: Record<string, Operation> = operations,
): { what: string; retirement: Retirement }[] {
  const retirable = [
    { what: "Version 1", ...version1 },
    ...Object.values(register).map(({ methods, path, retirement }) => ({
      what: `${methods[0]} ${path}`,
      retirement,
    })),
  ];
  return retirable.flatMap(({ what, retirement }) => (retirement ? [{ what, retirement }] : []));
}

/**
 * The retirement that a route announces: an operation's own or its version's, whichever ends first. The links of mails
 * do not expire, so the unsubscribe operation has none.
 */
export function retirementOf(route: Route): Retirement | undefined {
  if (route.path === operations.unsubscribe.path) return undefined;
  const ofVersion = operationPaths.has(route.path) ? version1.retirement : undefined;
  const { retirement: own } = route;
  if (!own || !ofVersion) return own ?? ofVersion;
  return Date.parse(own.sunsetAt) <= Date.parse(ofVersion.sunsetAt) ? own : ofVersion;
}

/** Throws the 410 of an operation after its sunset, with the guide in its hint. The list of codes is closed. */
export function requireBeforeSunset(route: Route, nowMs: number): void {
  const retirement = retirementOf(route);
  if (!retirement || nowMs < Date.parse(retirement.sunsetAt)) return;
  throw new ApiError("not_found", {
    status: 410,
    message: "This operation has been retired.",
    hint: `Follow the migration guide: ${settings().appUrl}${retirement.guide}`,
  });
}

/**
 * Checks retirements, in the build. Throws an Error naming what is retired and the broken rule: an announcement is not
 * in the future, a deprecation not before it, a sunset 90 days after it or more and not before the deprecation (RFC
 * 9745 §4), the guide opens, and unsubscribing never ends.
 *
 * @param opens - whether a path of this site leads somewhere
 */
export function checkRetirements(
  retirements: ReturnType<typeof listRetirements>,
  nowMs: number,
  opens: (path: string) => boolean,
): void {
  for (const { what, retirement } of retirements) {
    const { announcedAt, deprecatedAt, sunsetAt, guide } = retirement;
    const [announced = 0, deprecated = 0, sunset = 0] = [announcedAt, deprecatedAt, sunsetAt].map((text) =>
      z.iso.datetime({ offset: true }).safeParse(text).success ? Date.parse(text) : Number.NaN,
    );
    const rules: [boolean, string][] = [
      [[announced, deprecated, sunset].some(Number.isNaN), "has a date that is not ISO 8601"],
      [announced > nowMs, "is announced in the future"],
      [deprecated < announced, "is deprecated before its announcement"],
      [
        sunset < announced + minNoticeDays * dayMs,
        `ends less than ${minNoticeDays} days after its announcement`,
      ],
      [sunset < deprecated, "ends before its deprecation"],
      [what.endsWith(operations.unsubscribe.path), "would end the links of mails, which do not expire"],
      [!opens(guide), `has a guide that does not open: ${guide}`],
    ];
    const [broken] = rules.filter(([isBroken]) => isBroken);
    if (broken) throw new Error(`The retirement of ${what} ${broken[1]}.`);
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
