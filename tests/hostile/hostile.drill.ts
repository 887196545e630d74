import { afterAll, describe, expect, it } from "vitest";
import { attack, costBounds, heldMemory, startTarget, warmUp } from "@/tests/hostile/attack";
import { type Shape, shapes } from "@/tests/hostile/shapes";
import { startStage } from "@/tests/support/block";
import { engines } from "@/tests/support/engines";

/** A hundred times, or fewer for long shapes: `npm run hostile` sends each ten thousand times. */
function timesOf({ bytes, answers = 1 }: Shape): number {
  return Math.min(100, Math.ceil(300_000 / (bytes.length + 1000 * answers)));
}

describe.each(engines)("bytes that no friendly client sends, again and again, on $name", async (engine) => {
  const service = await startTarget((await startStage(engine)).environment);
  afterAll(() => service.stop());
  await warmUp(service, shapes, 1);
  const heldBefore = await heldMemory(service);

  it.each(shapes)("$name", async (shape) => {
    const { megabytes, healthMs } = await attack(service, shape, timesOf(shape), heldBefore);
    expect(megabytes, "MB more").toBeLessThanOrEqual(costBounds.megabytes);
    expect(healthMs, "ms for a health check").toBeLessThan(costBounds.healthMs);
  });
});
