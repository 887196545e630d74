import { afterAll, expect, it, vi } from "vitest";
import { refusalPace } from "@/lib/config/limits";
import { paceRefusal } from "@/lib/server/refusal-pace";

vi.useFakeTimers({ toFake: ["setTimeout"] });
afterAll(() => vi.useRealTimers());

it("so many refusals go out at once, then one of each network, and its others a fifth of a second later", async () => {
  const refuse = (network: string | undefined) => paceRefusal({ network });
  const atOnce = (count: number, network: string | undefined) =>
    Array.from({ length: count }, () => refuse(network)).every((later) => later === undefined);
  expect(atOnce(refusalPace.inAll, "192.0.2.1")).toBe(true);
  for (const network of ["192.0.2.1", "192.0.2.2", undefined])
    expect(atOnce(refusalPace.ofNetwork, network)).toBe(true);
  let sent = 0;
  const count = () => sent++;
  const later = [refuse("192.0.2.1"), refuse("192.0.2.1"), refuse(undefined)].map((one) => one?.then(count));
  expect(atOnce(refusalPace.ofNetwork, "192.0.2.3"), "of one that has none yet").toBe(true);
  await vi.advanceTimersByTimeAsync(refusalPace.everyMs - 1);
  expect(sent).toBe(0);
  vi.advanceTimersByTime(1);
  await Promise.all(later);
  expect(sent).toBe(3);
  expect(atOnce(refusalPace.inAll, "192.0.2.1")).toBe(true);
});
