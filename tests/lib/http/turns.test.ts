import { describe, expect, it } from "vitest";
import { ConcurrencyLimiter } from "@/lib/http/concurrency-limiter";

const bounds = { atOnce: 2, atOncePerClient: 1, waiting: 3, waitingPerClient: 2, waitMs: 60_000 };
const stays = new AbortController().signal;

/** Tasks that end when the test says so, and those that have started. */
function workplace(limiter: ConcurrencyLimiter) {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const ask = (name: string, client: string | undefined, signal = stays) => {
    const run = limiter.run(client, signal, () => {
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

describe("the concurrency limiter", () => {
  it("runs up to the limit at once, and starts waiting tasks in order", async () => {
    const { ask, end, begun } = workplace(new ConcurrencyLimiter(bounds));
    const all = ["a", "b", "c", "d"].map((name) => ask(name, name));
    expect(begun).toEqual(["a", "b"]);
    await end("b");
    expect(begun).toEqual(["a", "b", "c"]);
    await end("a");
    expect(begun).toEqual(["a", "b", "c", "d"]);
    await end("c");
    await end("d");
    expect(await Promise.all(all)).toEqual(["a", "b", "c", "d"]);
  });

  it("does not let one client's tasks block another's", async () => {
    const { ask, end, begun } = workplace(new ConcurrencyLimiter(bounds));
    for (const name of ["a1", "a2", "a3"]) ask(name, "a");
    ask("b", "b");
    expect(begun).toEqual(["a1", "b"]);
    await end("b");
    expect(begun, "the free slot is not a's").toEqual(["a1", "b"]);
    await end("a1");
    expect(begun).toEqual(["a1", "b", "a2"]);
  });

  it("refuses with 429 per client and 503 in total, both with Retry-After", async () => {
    const { ask } = workplace(new ConcurrencyLimiter(bounds));
    for (const name of ["a1", "a2", "a3"]) ask(name, "a");
    await expect(ask("a4", "a")).rejects.toMatchObject({ status: 429, headers: { "retry-after": "2" } });
    for (const name of ["b1", "b2"]) ask(name, "b");
    await expect(ask("c", "c")).rejects.toMatchObject({ status: 503, headers: { "retry-after": "2" } });
  });

  it("refuses with 503 after the wait, and frees the place in the queue", async () => {
    const { ask, end, begun } = workplace(new ConcurrencyLimiter({ ...bounds, atOnce: 1, waitMs: 5 }));
    ask("a", "a");
    await expect(ask("b", "b")).rejects.toMatchObject({ status: 503 });
    await end("a");
    ask("c", "c");
    expect(begun).toEqual(["a", "c"]);
  });

  it("never starts a task whose client is gone", async () => {
    const { ask, end, begun } = workplace(new ConcurrencyLimiter({ ...bounds, atOnce: 1 }));
    ask("a", "a");
    const signal = new AbortController();
    const dropped = ask("b", "b", signal.signal);
    ask("c", "c");
    signal.abort();
    await expect(dropped).rejects.toMatchObject({ status: 499 });
    await end("a");
    expect(begun).toEqual(["a", "c"]);
  });
});
