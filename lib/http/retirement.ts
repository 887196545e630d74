import * as z from "zod";
import { dayMs } from "@/lib/config/durations";
import { settings } from "@/lib/config/settings";
import type { Call } from "@/lib/http/call";
import { ApiError } from "@/lib/http/errors";
import { type Operation, operations } from "@/lib/http/register/operations";
import type { Retirement, Route } from "@/lib/http/route";

/** The minimum time from the announcement of a retirement to its sunset. */
export const minNoticeDays = 90;

/** Every retirement, by what is retired. */
export function listRetirements(
  register: Record<string, Operation> = operations,
): { what: string; retirement: Retirement }[] {
  return Object.values(register).flatMap(({ methods, path, retirement }) =>
    retirement ? [{ what: `${methods[0]} ${path}`, retirement }] : [],
  );
}

/** Throws the 410 of an operation after its sunset, with the guide in its hint. The list of codes is closed. */
export function requireBeforeSunset({ nowMs }: Call, { retirement }: Route): void {
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
