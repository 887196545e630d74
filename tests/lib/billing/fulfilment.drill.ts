import { describe, expect, it } from "vitest";
import { engines } from "@/tests/support/engines";
import { sellUnderFaults } from "@/tests/support/purchases";

/** A thousand take minutes: tests/README.md has their figures. */
const purchases = Number(process.env.PURCHASES ?? 100);
const killsOfEach = 1;

describe.each(engines)("fulfilment on $name", (engine) => {
  it("loses no purchase and gives none twice, whatever happens on the way", {
    timeout: 120_000 + purchases * 500,
  }, async () => {
    const stage = await engine.prepare();
    const beganAtMs = performance.now();
    const figures = await sellUnderFaults(stage, purchases, killsOfEach);
    await stage.clear();
    process.stderr.write(
      `${engine.name}: ${JSON.stringify(figures)} in ${Math.round(performance.now() - beganAtMs)} ms\n`,
    );
    expect(figures).toMatchObject({
      killsLeft: 0,
      sessions: purchases,
      customers: purchases,
      reconciled: { failed: 0 },
      lost: 0,
      lostInTheEnd: 0,
      givenTwice: 0,
    });
    expect(figures.kills).toBeGreaterThan(killsOfEach * 6);
    expect(figures.refused, "Stripe was away").toBeGreaterThan(0);
    expect(figures.lostBefore, "events were dropped").toBeGreaterThan(0);
  });
});
