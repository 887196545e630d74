import { describe, expect, it } from "vitest";
import { engines } from "@/tests/support/engines";
import { liveRestores } from "@/tests/support/restores";

const seed = Number(process.env.SEED ?? 1);

describe.each(engines)("a year of purchases with restores on $name", (engine) => {
  it("loses nothing, gives nothing twice, and sells no one a second licence, after one reading of Stripe", {
    timeout: 900_000,
  }, async () => {
    const stage = await engine.prepare();
    const { examples, ...figures } = await liveRestores(stage, seed);
    process.stderr.write(`${engine.name}: ${JSON.stringify(figures)}\n`);
    await stage.clear();
    expect(figures, `seed ${seed}: ${examples.slice(0, 10).join("\n")}`).toMatchObject({
      failed: 0,
      lostLicence: 0,
      unpaidLicence: 0,
      credits: 0,
      unnamed: 0,
      soldAgain: 0,
    });
    expect(figures.restores).toBeGreaterThan(10);
    expect(figures.lostAccounts).toBeGreaterThan(0);
  });
});
