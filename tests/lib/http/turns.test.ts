import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { TurnBounds } from "@/lib/config/limits";
import { Turns } from "@/lib/http/turns";
import type { Circles } from "@/lib/rate-limit/client";

const bounds = { atOnce: 2, atOnceOfKnown: 2, atOnceOfNetwork: 1, waiting: 3, waitMs: 60_000 };
const stays = new AbortController().signal;

const stranger = (network: string, client = network): Circles => ({ known: "strangers", network, client });
const known = (browser: string): Circles => ({ known: "known", network: browser, client: browser });

/** Tasks that end when the test says so, and those that have started. */
function workplace(more: Partial<TurnBounds> = {}) {
  const turns = new Turns({ ...bounds, ...more });
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const ask = (name: string, circles = stranger(name), signal = stays) => {
    const run = turns.run(circles, signal, () => {
      begun.push(name);
      return new Promise<string>((resolve) => ends.set(name, () => resolve(name)));
    });
    run.catch(() => {}); // what still waits at the end of a test times out during another one
    return run;
  };
  const end = async (name: string) => {
    ends.get(name)?.();
    await new Promise(setImmediate);
  };
  return { ask, end, begun };
}

describe("turns", () => {
  it("are as many as the limit at once, and then in order", async () => {
    const { ask, end, begun } = workplace();
    const all = ["a", "b", "c", "d"].map((name) => ask(name));
    expect(begun).toEqual(["a", "b"]);
    await end("b");
    expect(begun).toEqual(["a", "b", "c"]);
    await end("a");
    expect(begun).toEqual(["a", "b", "c", "d"]);
    await end("c");
    await end("d");
    expect(await Promise.all(all)).toEqual(["a", "b", "c", "d"]);
  });

  it("of one network do not hold up another's", async () => {
    const { ask, end, begun } = workplace();
    for (const name of ["a1", "a2", "a3"]) ask(name, stranger("a"));
    ask("b");
    expect(begun).toEqual(["a1", "b"]);
    await end("b");
    expect(begun, "the free turn is not a's").toEqual(["a1", "b"]);
    await end("a1");
    expect(begun).toEqual(["a1", "b", "a2"]);
  });

  it("go round: to known browsers and strangers, among networks, and among the clients of one", async () => {
    const { ask, end, begun } = workplace({ atOnce: 1, waiting: 100 });
    ask("first");
    for (const name of ["a1", "a2", "a3"]) ask(name, stranger("a", "a"));
    ask("a's neighbour", stranger("a", "neighbour"));
    for (const name of ["b1", "b2"]) ask(name, stranger("b"));
    for (const name of ["k1", "k2"]) ask(name, known("k"));
    while (begun.length < 9) await end(begun.at(-1) ?? "");
    const order = ["a1", "k1", "b1", "k2", "a's neighbour", "b2", "a2", "a3"];
    expect(begun).toEqual(["first", ...order]);
  });

  it("that too many wait for are refused to the largest network's latest: 429, or 503 if that has no other", async () => {
    const { ask, end, begun } = workplace({ atOnce: 1 });
    ask("first");
    const [a1, a2, a3] = ["a1", "a2", "a3"].map((name) => ask(name, stranger("a")));
    await expect(ask("a4", stranger("a"))).rejects.toMatchObject({
      status: 429,
      headers: { "retry-after": "2" },
    });
    ask("b");
    await expect(a3, "b's place was a's").rejects.toMatchObject({ status: 429 });
    ask("k", known("k"));
    await expect(a2, "as is a known browser's").rejects.toMatchObject({ status: 429 });
    await expect(ask("c")).rejects.toMatchObject({ status: 503, headers: { "retry-after": "2" } });
    for (const name of ["first", "a1", "k", "b"]) await end(name);
    expect(begun).toEqual(["first", "a1", "k", "b"]);
    expect(await a1).toBe("a1");
  });

  it("that do not come in time are a 503, and leave the place to others", async () => {
    const { ask, end, begun } = workplace({ atOnce: 1, waitMs: 5 });
    ask("a");
    await expect(ask("b")).rejects.toMatchObject({ status: 503 });
    await end("a");
    ask("c");
    expect(begun).toEqual(["a", "c"]);
  });

  it("are no one's whose client is gone, before or while it waits", async () => {
    const { ask, end, begun } = workplace({ atOnce: 1 });
    ask("a");
    const leaving = new AbortController();
    const dropped = ask("b", stranger("b"), leaving.signal);
    ask("c");
    leaving.abort();
    await expect(dropped).rejects.toMatchObject({ status: 499 });
    await end("a");
    await expect(ask("d", stranger("d"), leaving.signal)).rejects.toMatchObject({ status: 499 });
    await end("c");
    await expect(ask("e", stranger("e"), leaving.signal), "with a free turn").rejects.toMatchObject({
      status: 499,
    });
    expect(begun).toEqual(["a", "c"]);
  });

  it("that compute have a pace: a network that has computed comes after those that have not, and none is forgotten", async () => {
    vi.useFakeTimers({ toFake: ["performance", "setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const turns = new Turns({
      ...bounds,
      atOnce: 1,
      waiting: 100,
      pace: { all: 0, network: 20, aheadMs: 0 },
    });
    const begun: string[] = [];
    const compute = (name: string, network: string) =>
      turns.run(stranger(network), stays, () => {
        begun.push(name);
        vi.advanceTimersByTime(3);
      });
    await compute("a1", "a");
    const waiting = ["a2 a", "b1 b", "a3 a", "c1 c", "b2 b"].map((one) => {
      const [name = "", network = ""] = one.split(" ");
      return compute(name, network);
    });
    for (let ms = 0; ms < 200; ms++) {
      await new Promise(setImmediate);
      vi.advanceTimersByTime(1);
    }
    await Promise.all(waiting);
    expect(begun).toEqual(["a1", "b1", "c1", "a2", "b2", "a3"]);
  });

  it.each(Array.from({ length: 20 }, (_, n) => n / 20))(
    "come although a timer runs %s ms early",
    async (earlyMs) => {
      vi.useFakeTimers({ toFake: ["performance", "setTimeout", "clearTimeout"] });
      onTestFinished(() => void vi.useRealTimers());
      const turns = new Turns({ ...bounds, pace: { all: 0, network: 20, aheadMs: 0 } });
      const compute = () => turns.run(stranger("a"), stays, () => void vi.advanceTimersByTime(3));
      await compute();
      const nowMs = performance.now.bind(performance);
      let readings = 0;
      const clock = vi
        .spyOn(performance, "now")
        .mockImplementation(() => nowMs() - earlyMs + 0.05 * readings++);
      onTestFinished(() => clock.mockRestore());
      const begun = vi.fn();
      void compute().then(begun);
      for (let ms = 0; ms < 70; ms++) {
        readings = 0;
        vi.advanceTimersByTime(1);
        await new Promise(setImmediate);
      }
      expect(begun).toHaveBeenCalledOnce();
    },
  );
});
