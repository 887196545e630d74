import { EventEmitter, once } from "node:events";
import { describe, expect, it, vi } from "vitest";
import { startBackgroundLoop } from "@/lib/runtime/background-loop";
import { log } from "@/lib/runtime/log";

describe("startBackgroundLoop", () => {
  it("continues after failures, and logs the first failure and the recovery once each", async () => {
    const said: string[] = [];
    vi.spyOn(log(), "warn").mockImplementation((_: unknown, words?: string) => said.push(`warn: ${words}`));
    vi.spyOn(log(), "info").mockImplementation((words: unknown) => said.push(`info: ${words}`));
    const rounds = new EventEmitter();
    let round = 0;
    const isOver = once(rounds, "over");
    const stop = startBackgroundLoop(
      async () => {
        round++;
        if (round === 8) rounds.emit("over");
        if ([2, 3, 4, 6].includes(round)) throw new Error("away");
      },
      { pauseMs: 0, failed: "the outbox could not be read" },
    );
    await isOver;
    await stop();
    expect(said).toEqual([
      "warn: the outbox could not be read",
      "info: recovered: the outbox could not be read",
      "warn: the outbox could not be read",
      "info: recovered: the outbox could not be read",
    ]);
  });

  it("stops after the current round, without another pause or round", async () => {
    const rounds: { signal: AbortSignal; end: () => void }[] = [];
    const work = (signal: AbortSignal) => new Promise<void>((end) => rounds.push({ signal, end }));
    const stop = startBackgroundLoop(work, { pauseMs: 60_000, failed: "" });
    await vi.waitFor(() => expect(rounds).toHaveLength(1));
    let isStopped = false;
    const stopped = stop().then(() => {
      isStopped = true;
    });
    await new Promise(setImmediate);
    expect(rounds[0]?.signal.aborted).toBe(true);
    expect(isStopped).toBe(false);
    rounds[0]?.end();
    await stopped;
    expect(rounds).toHaveLength(1);
  });

  it("stops immediately during a pause", async () => {
    const stop = startBackgroundLoop(async () => {}, { pauseMs: 60_000, failed: "" });
    await new Promise(setImmediate);
    await stop();
  });
});
