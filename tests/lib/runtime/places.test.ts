import { describe, expect, it } from "vitest";
import { inBackground } from "@/lib/runtime/background-loop";
import { Places } from "@/lib/runtime/places";

const withinMs = { requests: 1000, background: 1000 };
const refuse = () => new Error("no place was free");

/** Work in the order in which it has got its place. */
function watch(places: Places) {
  const begun: string[] = [];
  const ask = (name: string) => places.begin(withinMs, refuse).then(() => begun.push(name));
  return {
    begun,
    asRequest: ask,
    asBackground: (name: string) => inBackground(() => ask(name)),
    async end(): Promise<void> {
      places.end();
      await Promise.resolve().then(() => {});
    },
  };
}

describe("places", () => {
  it("a turn goes to no work that has stopped waiting for it", async () => {
    const places = new Places({ requests: 1, background: 1 });
    await places.begin(withinMs, refuse);
    const late = places.begin({ requests: 1, background: 1 }, refuse);
    await expect(late).rejects.toThrow("no place was free");
    places.end();
    await places.begin(withinMs, refuse);
    const next = places.begin(withinMs, refuse);
    places.end();
    await next;
  });

  it("go to requests first, and to background work after three of them", async () => {
    const { begun, asRequest, asBackground, end } = watch(new Places({ requests: 1, background: 1 }));
    const all = [asRequest("first"), asBackground("background")];
    all.push(...["second", "third", "fourth", "fifth"].map(asRequest));
    for (const _ of all) await end();
    await Promise.all(all);
    expect(begun).toEqual(["first", "second", "third", "fourth", "background", "fifth"]);
  });

  it("leave some that no background work takes", async () => {
    const { begun, asRequest, asBackground, end } = watch(new Places({ requests: 2, background: 1 }));
    const all = [asBackground("one"), asBackground("two"), asRequest("a request"), asRequest("another")];
    await end();
    await end();
    await end();
    await Promise.all(all);
    expect(begun).toEqual(["one", "a request", "another", "two"]);
  });

  it("are refused once too many wait for one", async () => {
    const places = new Places({ requests: 1, background: 1 }, { maxWaiting: 1 });
    await places.begin(withinMs, refuse);
    const waits = places.begin(withinMs, refuse);
    await expect(places.begin(withinMs, refuse)).rejects.toThrow("no place was free");
    places.end();
    await waits;
  });
});
