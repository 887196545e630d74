import { EventEmitter, once } from "node:events";
import { describe, expect, it, vi } from "vitest";
import { log } from "@/lib/process/log";
import { startLoop } from "@/lib/process/loop";

describe("work done again and again", () => {
  it("goes on after failures, and says once that it fails and once that it works again", async () => {
    const said: string[] = [];
    vi.spyOn(log(), "warn").mockImplementation((_: unknown, words?: string) => said.push(`warn: ${words}`));
    vi.spyOn(log(), "info").mockImplementation((words: unknown) => said.push(`info: ${words}`));
    const rounds = new EventEmitter();
    let round = 0;
    const isOver = once(rounds, "over");
    const loop = startLoop(
      async () => {
        round++;
        if (round === 8) rounds.emit("over");
        if ([2, 3, 4, 6].includes(round)) throw new Error("away");
      },
      { pauseMs: 0, failed: "the outbox could not be read" },
    );
    await isOver;
    await loop.stop();
    expect(said).toEqual([
      "warn: the outbox could not be read",
      "info: over now: the outbox could not be read",
      "warn: the outbox could not be read",
      "info: over now: the outbox could not be read",
    ]);
  });
});
