import { describe, expect, it } from "vitest";
import { engines } from "@/tests/support/engines";
import { liveYears, noneWrong } from "@/tests/support/years";

/** A thousand take most of an hour: tests/README.md has their figures. */
const years = Number(process.env.YEARS || 3);
// A few years are those of more owners, because each day costs as much as several owners.
const days = process.env.YEARS ? 365 : 122;
const seed = Number(process.env.SEED ?? 1);

describe.each(engines)("the years after a purchase on $name", (engine) => {
  it("let no one run unpaid beyond the grace, stop no one who pays, charge no one twice, and say what is charged", {
    timeout: 400_000 + years * 30_000,
  }, async () => {
    const stage = await engine.prepare({ conflicts: !process.env.YEARS });
    const beganAtMs = performance.now();
    const { examples, ...figures } = await liveYears(stage, years, seed, days);
    const ms = Math.round(performance.now() - beganAtMs);
    process.stderr.write(`${engine.name}: ${JSON.stringify(figures)} in ${ms} ms\n`);
    await stage.clear();
    const story = `seed ${seed}, ${examples.join("\n")}`;
    expect(figures, story).toMatchObject(noneWrong);
    expect(figures.acts).toBeGreaterThan(years * 10);
  });
});
