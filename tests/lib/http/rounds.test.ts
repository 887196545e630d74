import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { roundBounds } from "@/lib/config/limits";
import { Rounds } from "@/lib/http/rounds";

type Asked = { by: string; client?: string; isKnown?: boolean; takesMs?: number; bodyTakesMs?: number };

/** Rounds on a clock of their own, which only work moves. */
function start() {
  let nowMs = 0;
  const rounds = new Rounds(
    () => nowMs,
    () => 0,
  );
  const began: string[] = [];
  const times = new Map<string, number>();
  const ask = ({ by, client = by, isKnown = false, takesMs = 0, bodyTakesMs }: Asked) => {
    const sender = () => ({ isKnown, network: by, client });
    return rounds.run(sender, async (turn) => {
      began.push(client);
      times.set(client, nowMs);
      nowMs += takesMs;
      if (bodyTakesMs === undefined) return;
      await rounds.again(sender, turn);
      began.push(`body of ${client}`);
      nowMs += bodyTakesMs;
    });
  };
  /** Makes requests wait: the turn has taken this long. */
  const hold = (ms = roundBounds.ms) => ask({ by: "holds", takesMs: ms });
  const pass = (ms: number) => {
    nowMs += ms;
  };
  const beganAtMs = (client: string) => times.get(client) ?? Number.NaN;
  return { ask, hold, pass, began, beganAtMs, now: () => nowMs };
}

describe("requests that the event loop cannot take at once", () => {
  it("begin at once as long as a turn has time, and then in the next one", async () => {
    const { ask, hold, began } = start();
    hold();
    const later = ask({ by: "192.0.2.1" });
    expect(began).toEqual(["holds"]);
    await later;
    expect(began).toEqual(["holds", "192.0.2.1"]);
  });

  it("go round by network: one network with a hundred delays another by one", async () => {
    const { ask, hold, began } = start();
    hold();
    const flood = Array.from({ length: 100 }, () => ask({ by: "2001:db8::/48" }));
    await Promise.all([...flood, ask({ by: "192.0.2.1" })]);
    expect(began.indexOf("192.0.2.1")).toBe(2);
    expect(began).toHaveLength(102);
  });

  it("go round by client within a network: a neighbour waits for one of a hundred", async () => {
    const { ask, hold, began } = start();
    hold();
    const flood = Array.from({ length: 100 }, () => ask({ by: "2001:db8::/48", client: "2001:db8::/64" }));
    await Promise.all([...flood, ask({ by: "2001:db8::/48", client: "2001:db8:0:1::/64" })]);
    expect(began.indexOf("2001:db8:0:1::/64")).toBe(2);
  });

  it("go to known callers and strangers alternately, so a hundred networks delay an app by one", async () => {
    const { ask, hold, began } = start();
    hold();
    const flood = Array.from({ length: 100 }, (_, n) => ask({ by: `2001:db8:${n}::/48` }));
    const own = [ask({ by: "ceo", isKnown: true }), ask({ by: "ceo", isKnown: true })];
    await Promise.all([...flood, ...own]);
    expect([began.indexOf("ceo"), began.lastIndexOf("ceo")].every((at) => at <= 4)).toBe(true);
  });

  it("go first to networks that have had least lately: a newcomer does not wait for a hundred others", async () => {
    const { ask, hold, began } = start();
    const flood = () => Array.from({ length: 100 }, (_, n) => ask({ by: `2001:db8:${n}::/48`, takesMs: 3 }));
    hold();
    await Promise.all(flood());
    began.length = 0;
    hold();
    const again = flood();
    await Promise.all([...again, ask({ by: "198.51.100.7" })]);
    expect(began.indexOf("198.51.100.7")).toBeLessThanOrEqual(2);
  });

  it("are as few in a turn as make it short: dear ones come one by one", async () => {
    const { ask, hold, began } = start();
    hold();
    const all = Array.from({ length: 40 }, (_, n) => ask({ by: `${n}`, takesMs: 5 }));
    await Promise.all(all.slice(0, 20));
    const before = began.length;
    await nextTurn();
    expect(began.length - before).toBeLessThanOrEqual(1);
    await Promise.all(all);
  });

  it.each([
    ["strangers", false, 0],
    ["an account that asks for much", true, 200],
  ])(
    "of %s leave the loop free for as long as they have used it, while known callers ask",
    async (by, isKnown, had) => {
      const { ask, hold, pass, beganAtMs } = start();
      hold();
      await Promise.all(Array.from({ length: had }, () => ask({ by, isKnown, takesMs: 5 })));
      pass(200);
      hold();
      await ask({ by: "ceo", isKnown: true });
      hold();
      const timer = setInterval(() => pass(1), 1);
      const both = ["one", "two"].map((client) => ask({ by, client, isKnown, takesMs: 40 }));
      await both[0];
      await ask({ by: "ceo", client: "app", isKnown: true });
      await both[1];
      clearInterval(timer);
      const restedMs = beganAtMs("two") - beganAtMs("one") - 40;
      expect(restedMs).toBeGreaterThanOrEqual(30);
      expect(restedMs).toBeLessThan(60);
      expect(beganAtMs("app"), "an app's does not wait for that").toBeLessThan(beganAtMs("two"));
    },
  );

  it("of strangers begin within a tenth of a second, however much those before them have used", async () => {
    const { ask, hold, pass, began, now } = start();
    pass(200);
    hold();
    const app = ask({ by: "ceo", isKnown: true });
    const dear = ask({ by: "dear", takesMs: 900 });
    await Promise.all([app, dear]);
    await nextTurn();
    await nextTurn();
    const endedAtMs = now();
    const app2 = ask({ by: "ceo", isKnown: true });
    const newcomer = ask({ by: "198.51.100.7" });
    const timer = setInterval(() => pass(5), 1);
    await Promise.all([app2, newcomer]);
    clearInterval(timer);
    expect(began.at(-1)).toBe("198.51.100.7");
    expect(now() - endedAtMs).toBeLessThanOrEqual(roundBounds.restMs + 20);
  });

  it("wait with their bodies behind newcomers", async () => {
    const { ask, hold, began } = start();
    hold();
    const flood = Array.from({ length: 50 }, (_, n) => ask({ by: `2001:db8:${n}::/48`, bodyTakesMs: 3 }));
    while (began.length < 51) await nextTurn();
    await Promise.all([...flood, ask({ by: "198.51.100.7" })]);
    expect(began.indexOf("198.51.100.7")).toBeLessThan(55);
  });

  it("are charged for nothing while they wait with their bodies: strangers do not rest for an app's work", async () => {
    const { ask, hold, pass, began, now } = start();
    hold();
    const flood = Array.from({ length: 50 }, (_, n) => ask({ by: `2001:db8:${n}::/48`, bodyTakesMs: 1 }));
    while (began.length < 51) await nextTurn();
    const beganAtMs = now();
    const app = Array.from({ length: 20 }, () => ask({ by: "ceo", isKnown: true, takesMs: 5 }));
    const timer = setInterval(() => pass(1), 1);
    await Promise.all([...flood, ...app]);
    clearInterval(timer);
    expect(now() - beganAtMs).toBeLessThan(1000);
  });

  it("of one account that asks for much leave it to the others", async () => {
    const { ask, hold, began } = start();
    hold();
    await Promise.all(Array.from({ length: 200 }, () => ask({ by: "much", isKnown: true, takesMs: 5 })));
    began.length = 0;
    hold();
    const flood = Array.from({ length: 100 }, () => ask({ by: "much", isKnown: true }));
    await ask({ by: "ceo", isKnown: true });
    expect(began.indexOf("ceo")).toBeLessThanOrEqual(2);
    await Promise.all(flood);
  });
});
