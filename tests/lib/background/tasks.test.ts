import { expect, it } from "vitest";
import { doDueWork } from "@/lib/background/tasks";
import { startStage } from "@/tests/support/block";
import { type Engine, engines } from "@/tests/support/engines";

const stage = await startStage(engines[0] as Engine);
Object.assign(process.env, stage.environment, { LOG_LEVEL: "error" });

it("calls that come while all that is due is done share the round", async () => {
  const first = doDueWork();
  expect(doDueWork()).toBe(first);
  expect(await first).toBe(true);
});
