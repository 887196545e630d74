import { afterAll, describe, expect, it } from "vitest";
import { attack, costBounds, heldMemory, startTarget } from "@/tests/hostile/attack";
import { type Shape, shapes } from "@/tests/hostile/shapes";
import { startStage } from "@/tests/support/block";
import { engines } from "@/tests/support/engines";

/** How often `npm run hostile` sends each: ten thousand times. */
const often = Number(process.env.HOSTILE ?? 0);

/** Otherwise a hundred times, or fewer for long shapes. */
function timesOf({ bytes, answers = 1 }: Shape): number {
  if (often) return often / Math.max(1, answers);
  return Math.min(100, Math.ceil(300_000 / (bytes.length + 1000 * answers)));
}

describe.each(engines)("bytes that no friendly client sends, again and again, on $name", async (engine) => {
  const service = await startTarget((await startStage(engine)).environment);
  afterAll(() => service.stop());
  const heldBefore = await heldMemory(service);
  const timeout = 60_000 + often * 100;

  it.each(shapes)("$name", { timeout }, async (shape) => {
    const { megabytes, healthMs } = await attack(service, shape, timesOf(shape), heldBefore);
    expect(megabytes, "MB more").toBeLessThanOrEqual(costBounds.megabytes);
    expect(healthMs, "ms for a health check").toBeLessThan(costBounds.healthMs);
  });

  it("all of them leave little behind", async () => {
    expect((await heldMemory(service)) - heldBefore, "MB").toBeLessThanOrEqual(costBounds.megabytes);
  });
});
