import { EventEmitter, once } from "node:events";
import { describe, expect, it, vi } from "vitest";
import { startBackgroundLoop } from "@/lib/runtime/background-loop";
import { log } from "@/lib/runtime/log";

describe("work done again and again", () => {
  it("goes on after failures, and says once that it fails and once that it works again", async () => {
    const said: string[] = [];
    vi.spyOn(log(), "warn").mockImplementation((_: unknown, words?: string) => said.push(`warn: ${words}`));
    vi.spyOn(log(), "info").mockImplementation((words: unknown) => said.push(`info: ${words}`));
    const rounds = new EventEmitter();
    let round = 0;
    const isOver = once(rounds, "over");
    const loop = startBackgroundLoop(
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

  it("stops once the round under way is over, without the pause after it, and begins no other", async () => {
    const rounds: { signal: AbortSignal; end: () => void }[] = [];
    const work = (signal: AbortSignal) => new Promise<void>((end) => rounds.push({ signal, end }));
    const loop = startBackgroundLoop(work, { pauseMs: 60_000, failed: "" });
    let isStopped = false;
    const stopped = loop.stop().then(() => {
      isStopped = true;
    });
    await new Promise(setImmediate);
    expect(rounds[0]?.signal.aborted).toBe(true);
    expect(isStopped).toBe(false);
    rounds[0]?.end();
    await stopped;
    expect(rounds).toHaveLength(1);
  });

  it("stops at once while it pauses", async () => {
    const loop = startBackgroundLoop(async () => {}, { pauseMs: 60_000, failed: "" });
    await new Promise(setImmediate);
    await loop.stop();
  });
});
