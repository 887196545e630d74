import { describe, expect, it } from "vitest";
import { dayMs } from "@/lib/config/durations";
import { type CreditMonth, type CreditSource, giveMonths, monthAt } from "@/lib/plans/credit-months";
import type { Plan } from "@/lib/plans/plan";

const at = (day: string) => Date.parse(day.length > 10 ? day : `${day}T09:30:00.000Z`);
const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);
const plan = (name: string, credits: number, position: number) =>
  ({ name, title: name, credit_thousandths: credits * 1000, position }) as Plan;
const [trial, hobby, studio, team] = [
  plan("trial", 20, 1),
  plan("hobby", 5, 2),
  plan("studio", 100, 3),
  plan("team", 300, 4),
];

/** What an account has without paying: from its opening, or until a trial's end. */
const free = (plan: Plan, from: string, until?: string): CreditSource => ({
  plan,
  fromMs: at(from),
  untilMs: until ? at(until) : Number.POSITIVE_INFINITY,
});

/** What Stripe gives: paid from its period's start until its end. */
function paid(plan: Plan, begun: string, period: [from: string, until: string], more = {}): CreditSource {
  const ofStripe = { anchorMs: at(begun), periodMs: at(period[0]), isFree: false, isStopped: false, ...more };
  return { plan, fromMs: at(begun), untilMs: at(period[1]), ofStripe };
}

/** An account to which time passes: each step is a day, and what it may have then. */
function live() {
  let known: (CreditMonth & { isWaiting: boolean }) | undefined;
  return (day: string, ...sources: CreditSource[]): string[] => {
    const { month, given, dueMs } = giveMonths(known, sources, at(day));
    known = month && { ...month, isWaiting: dueMs === null };
    return given
      .filter(({ thousandths }) => thousandths > 0)
      .map(({ plan, thousandths, isMore }) => `${isMore ? "+" : ""}${thousandths / 1000} ${plan.name}`);
  };
}

describe("a plan's credits", () => {
  it.each([
    ["2027-01-31", ["2027-02-28", "2027-03-31", "2027-04-30", "2027-05-31"]],
    ["2027-12-30", ["2028-01-30", "2028-02-29", "2028-03-30", "2028-04-30"]],
    ["2028-02-29", ["2028-03-29", "2028-04-29", "2028-05-29", "2028-06-29"]],
    ["2027-11-30", ["2027-12-30", "2028-01-30", "2028-02-29", "2028-03-30"]],
  ])("begin on the day of %s, or on the last of a shorter month", (anchor, months) => {
    expect([1, 2, 3, 4].map((month) => dayOf(monthAt(at(anchor), month)))).toEqual(months);
    expect(monthAt(at(anchor), 1) % dayMs).toBe(at(anchor) % dayMs);
  });

  it("are all given with a licence that is bought in the second in which the account was opened", () => {
    const day = live();
    const opened = "2027-01-01T09:30:00.400Z"; // Stripe's time has no fraction
    const hobbyist = free(hobby, opened);
    expect(day(opened, hobbyist)).toEqual(["5 hobby"]);
    const licence = paid(studio, "2027-01-01", ["2027-01-01", "2027-02-01"]);
    expect(day("2027-01-01T09:30:00.900Z", hobbyist, licence)).toEqual(["100 studio"]);
    expect(day("2027-01-02", hobbyist, licence)).toEqual([]);
    const next = paid(studio, "2027-01-01", ["2027-02-01", "2027-03-01"]);
    expect(day("2027-02-01", hobbyist, next)).toEqual(["100 studio"]);
    const other = live();
    const [second, secondBefore] = ["2027-01-01T09:30:00.000Z", "2027-01-01T09:29:59.000Z"];
    expect(other(second, free(hobby, second))).toEqual(["5 hobby"]);
    const older = paid(studio, secondBefore, [secondBefore, "2027-02-01"]);
    expect(other(second, free(hobby, second), older), "more, as in a month that went on").toEqual([
      "+95 studio",
    ]);
  });

  it("are given once a month on a yearly price, at the second and not before", () => {
    const day = live();
    const year = paid(studio, "2027-01-31", ["2027-01-31", "2028-01-31"]);
    expect(day("2027-01-01", free(trial, "2027-01-01", "2027-01-15"))).toEqual(["20 trial"]);
    expect(day("2027-01-31", year)).toEqual(["100 studio"]);
    expect(day("2027-01-31", year)).toEqual([]);
    expect(day("2027-02-28T09:29:59.999Z", year)).toEqual([]);
    expect(day("2027-02-28T09:30:00.000Z", year)).toEqual(["100 studio"]);
    expect(day("2027-03-30", year)).toEqual([]);
    expect(day("2027-03-31", year)).toEqual(["100 studio"]);
    const rest = Array.from({ length: 400 }, (_, days) => day(dayOf(at("2027-04-01") + days * dayMs), year));
    expect(rest.flat()).toHaveLength(9);
  });

  it("are given for each month that was missed, twelve at most", () => {
    const day = live();
    const forGood = free(studio, "2027-01-15");
    expect(day("2027-01-15", forGood)).toEqual(["100 studio"]);
    expect(day("2027-05-20", forGood)).toEqual(Array.from({ length: 4 }, () => "100 studio"));
    expect(day("2033-01-20", forGood)).toHaveLength(12);
    expect(day("2033-02-14", forGood)).toEqual([]);
    expect(day("2033-02-15", forGood)).toEqual(["100 studio"]);
    // A clock that was ahead: what was given early is not given again.
    expect(day("2027-06-20", forGood)).toEqual([]);
  });

  it("give the difference on the way up, and nothing on the way down and up again", () => {
    const day = live();
    const period = ["2027-03-05", "2027-04-05"] as [string, string];
    expect(day("2027-03-05", paid(studio, "2027-03-05", period))).toEqual(["100 studio"]);
    expect(day("2027-03-20", paid(team, "2027-03-05", period))).toEqual(["+200 team"]);
    for (const plan of [studio, team, hobby, team, studio])
      expect(day("2027-03-25", paid(plan, "2027-03-05", period))).toEqual([]);
    const next = ["2027-04-05", "2027-05-05"] as [string, string];
    expect(day("2027-04-05", paid(studio, "2027-03-05", next))).toEqual(["100 studio"]);
  });

  it("that are edited count from the next month", () => {
    const day = live();
    expect(day("2027-03-05", free(hobby, "2027-03-05"))).toEqual(["5 hobby"]);
    expect(day("2027-03-06", free(plan("hobby", 50, 2), "2027-03-05"))).toEqual([]);
    expect(day("2027-04-05", free(plan("hobby", 50, 2), "2027-03-05"))).toEqual(["50 hobby"]);
    expect(day("2027-05-05", free(plan("hobby", 0, 2), "2027-03-05"))).toEqual([]);
  });

  it("of a licence that is given after a plan without any begin with it", () => {
    const day = live();
    expect(day("2027-03-01", free(plan("hobby", 0, 2), "2027-03-01"))).toEqual([]);
    expect(day("2027-03-10", free(studio, "2027-03-01"))).toEqual(["100 studio"]);
    expect(day("2027-04-01", free(studio, "2027-03-01"))).toEqual([]);
    expect(day("2027-04-10", free(studio, "2027-03-01"))).toEqual(["100 studio"]);
  });

  it("of what is free do not count against what is paid; what was paid counts by the part that is left", () => {
    const day = live();
    expect(day("2027-03-01", free(trial, "2027-03-01", "2027-03-15"))).toEqual(["20 trial"]);
    expect(day("2027-03-05", paid(studio, "2027-03-05", ["2027-03-05", "2027-04-05"]))).toEqual([
      "100 studio",
    ]);
    // From monthly to yearly, Stripe begins a period and credits what is left of the old one: 16 of 31 days.
    const year = paid(studio, "2027-03-20", ["2027-03-20", "2028-03-20"]);
    expect(day("2027-03-20", year)).toEqual(["48.387 studio"]);
    const month = paid(studio, "2027-03-21", ["2027-03-21", "2027-04-21"]);
    expect(day("2027-03-21", month)).toEqual(["3.225 studio"]);
    expect(day("2027-04-20", month)).toEqual([]);
  });

  it("of a free time at Stripe are those of a month, and the first paid one has its own", () => {
    const day = live();
    expect(day("2027-03-01", free(plan("trial", 0, 1), "2027-03-01", "2027-03-15"))).toEqual([]);
    const asTrial = (until: string) => ({
      ...paid(studio, "2027-03-03", ["2027-03-03", until], { anchorMs: at(until), isFree: true }),
    });
    expect(day("2027-03-03", asTrial("2027-03-17"))).toEqual(["100 studio"]);
    expect(day("2027-03-10", asTrial("2027-03-20"))).toEqual([]);
    const renewed = paid(studio, "2027-03-20", ["2027-03-20", "2027-04-20"]);
    expect(day("2027-03-20", renewed)).toEqual(["100 studio"]);
    expect(day("2027-04-19", renewed)).toEqual([]);
  });

  it("come once in a free time at Stripe that is longer than a month, also where it was given to who pays", () => {
    const trialOf = (begun: string, from: string, until: string) =>
      paid(studio, begun, [from, until], { anchorMs: at(until), isFree: true });
    for (const until of ["2027-03-12", "2027-03-22", "2027-05-31"]) {
      const day = live();
      const asTrial = trialOf("2027-02-10", "2027-02-10", until); // thirty days of a short month, forty, and more
      expect(day("2027-02-10", asTrial)).toEqual(["100 studio"]);
      expect(day("2027-02-12", asTrial)).toEqual([]);
      expect(day("2027-03-11", asTrial)).toEqual([]);
      expect(day("2027-03-11", { ...asTrial, plan: team }), "a better plan").toEqual(["+200 team"]);
      const renewed = paid(team, until, [until, "2027-06-30"]);
      expect(day(until, renewed)).toEqual(["300 team"]);
    }
    const day = live();
    expect(day("2027-03-01", paid(studio, "2027-03-01", ["2027-03-01", "2027-04-01"]))).toEqual([
      "100 studio",
    ]);
    const asTrial = trialOf("2027-03-01", "2027-03-20", "2027-04-15");
    expect(day("2027-03-20", asTrial)).toEqual([]);
    expect(day("2027-04-14", asTrial)).toEqual([]);
    expect(day("2027-04-15", paid(studio, "2027-04-15", ["2027-04-15", "2027-05-15"]))).toEqual([
      "100 studio",
    ]);
  });

  it("wait while nothing is paid, and are given for the period that is", () => {
    const day = live();
    const begun = "2027-01-10";
    const stopped = { isStopped: true };
    expect(day(begun, paid(studio, begun, [begun, "2027-02-10"]))).toEqual(["100 studio"]);
    const unpaid = (from: string) => paid(studio, begun, [from, "2027-02-10"], stopped);
    expect(day("2027-02-10", unpaid("2027-02-10"))).toEqual([]);
    expect(day("2027-02-18", paid(studio, begun, ["2027-02-10", "2027-03-10"]))).toEqual(["100 studio"]);
    expect(day("2027-03-10", paid(studio, begun, ["2027-03-10", "2027-03-10"], stopped))).toEqual([]);
    expect(day("2027-05-12", paid(studio, begun, ["2027-05-10", "2027-03-10"], stopped))).toEqual([]);
    // Only the last of three periods was paid in the end.
    expect(day("2027-05-15", paid(studio, begun, ["2027-05-10", "2027-06-10"]))).toEqual(["100 studio"]);
    expect(day("2027-05-16", paid(studio, begun, ["2027-05-10", "2027-06-10"]))).toEqual([]);
    expect(day("2027-06-10", paid(studio, begun, ["2027-06-10", "2028-06-10"]))).toEqual(["100 studio"]);
  });

  it("of a year that is paid late are given for each of its months", () => {
    const day = live();
    expect(day("2027-01-10", paid(studio, "2026-01-10", ["2026-01-10", "2027-01-10"]))).toEqual([]);
    expect(day("2026-12-12", paid(studio, "2026-01-10", ["2026-01-10", "2027-01-10"]))).toEqual([
      "100 studio",
    ]);
    const unpaid = paid(studio, "2026-01-10", ["2027-01-10", "2027-01-10"], { isStopped: true });
    expect(day("2027-01-10", unpaid)).toEqual([]);
    expect(day("2027-03-12", paid(studio, "2026-01-10", ["2027-01-10", "2028-01-10"]))).toEqual(
      Array.from({ length: 3 }, () => "100 studio"),
    );
  });

  it("of a trial end with it, and are not given for the time until something follows", () => {
    const day = live();
    const ended = free(trial, "2027-01-01", "2027-01-15");
    expect(day("2027-01-01", ended)).toEqual(["20 trial"]);
    expect(day("2027-02-01", ended)).toEqual([]);
    expect(day("2027-06-20", ended)).toEqual([]);
    expect(day("2027-06-21", free(studio, "2027-01-01"))).toEqual(["100 studio"]);
    expect(day("2027-07-20", free(studio, "2027-01-01"))).toEqual([]);
    expect(day("2027-07-21", free(studio, "2027-01-01"))).toEqual(["100 studio"]);
  });

  it("of two licences are those of the account's plan, once", () => {
    const day = live();
    const given = free(team, "2027-01-01");
    expect(day("2027-01-01", given)).toEqual(["300 team"]);
    const bought = paid(studio, "2027-01-10", ["2027-01-10", "2028-01-10"]);
    expect(day("2027-01-10", given, bought)).toEqual([]);
    expect(day("2027-02-01", given, bought)).toEqual(["300 team"]);
    // The better one ends: the other's next month is its own.
    expect(day("2027-02-05", bought)).toEqual([]);
    expect(day("2027-02-10", bought)).toEqual(["100 studio"]);
    const another = paid(team, "2027-02-20", ["2027-02-20", "2027-03-20"]);
    expect(day("2027-02-20", bought, another)).toEqual(["235.714 team"]);
    expect(day("2027-03-10", bought, another)).toEqual([]);
  });
});
