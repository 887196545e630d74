import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ClerkCallLimitError, callClerk } from "@/lib/auth/clerk/clerk-calls";
import { Client } from "@/lib/rate-limit/client";

const world = { APP_SECRET: "s".repeat(32) };

describe("a call to Clerk that a request causes", () => {
  let addresses = 0;
  const from = (address = `10.6.${++addresses >> 8}.${addresses & 255}`) =>
    new Client(new Headers(), address);
  const answers = async () => "answer";
  const never = () => new Promise<string>(() => {});
  /** The number of these calls that were made. */
  const made = async (calls: Promise<unknown>[]) =>
    (await Promise.allSettled(calls)).filter(({ status }) => status === "fulfilled").length;

  beforeEach(() => {
    Object.assign(process.env, world);
    // Each test begins ten minutes after the previous one, when every rate limit window has ended.
    vi.useFakeTimers({ now: 0, toFake: ["setTimeout", "clearTimeout", "performance"] });
    vi.advanceTimersByTime(++minutes * 600_000);
  });
  let minutes = 0;
  afterEach(() => {
    vi.useRealTimers();
  });

  it("is made 600 times a minute for all of them", async () => {
    let count = 0;
    for (let asked = 0; asked < 700; asked++) count += await made([callClerk(from(), answers)]);
    expect(count).toBe(600);
  });

  it("is one of at most twenty concurrent calls", async () => {
    let finish = (_: string) => {};
    const slow = new Promise<string>((resolve) => {
      finish = resolve;
    });
    const calls = Array.from({ length: 30 }, () => callClerk(from(), () => slow));
    await expect(calls[29]).rejects.toThrow(ClerkCallLimitError);
    finish("late");
    expect(await made(calls)).toBe(20);
    expect(await callClerk(from(), answers)).toBe("answer");
  });

  it("is one of at most five of a network, so that four networks at least have some", async () => {
    let finish = (_: string) => {};
    const slow = new Promise<string>((resolve) => {
      finish = resolve;
    });
    const calls = Array.from({ length: 30 }, (_, n) => callClerk(from(`2001:db8:1:${n}::1`), () => slow));
    await expect(calls[29]).rejects.toThrow(ClerkCallLimitError);
    expect(await callClerk(from(), answers)).toBe("answer");
    finish("late");
    expect(await made(calls)).toBe(5);
  });

  it("times out after two seconds, and then fails at once for five", async () => {
    const waiting = callClerk(from(), never);
    const waited = expect(waiting).rejects.toThrow("no answer within 2000 ms");
    await vi.advanceTimersByTimeAsync(2000);
    await waited;
    const call = vi.fn(answers);
    vi.advanceTimersByTime(4999);
    await expect(callClerk(from(), call)).rejects.toThrow(ClerkCallLimitError);
    expect(call).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(await callClerk(from(), call)).toBe("answer");
  });
});
