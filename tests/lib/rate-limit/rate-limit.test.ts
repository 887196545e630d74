import { describe, expect, it, vi } from "vitest";
import { consumeLimit, consumeRateLimit, refundLimit } from "@/lib/rate-limit/rate-limit";
import { createFolder } from "@/tests/support/leash";

Object.assign(process.env, { DATA_DIR: createFolder(), TRUSTED_PROXY_HOPS: "1" });

describe("a limit of ours", () => {
  const limit = { perClient: 2, perNetwork: 4, inAll: 6, windowSeconds: 600 };
  /** Sends from an address, with the id of a browser if it has signed in before. Returns whether it is accepted. */
  const sender = (address: string, browser?: string) => ({
    headers: new Headers({ "x-forwarded-for": address }),
    browser,
  });

  it("holds per /64, per /48 and in all, and leaves known browsers and their networks their share", async () => {
    const send = async (address: string, browser?: string) =>
      (await consumeLimit("a limit", limit, sender(address, browser))) === undefined;
    expect(await send("2001:db8:1:ffff::1", "known"), "from here on its network is known").toBe(true);
    const ofOneClient = ["::1", "::2", "::3"].map((host) => send(`2001:db8:2:1${host}`));
    expect(await Promise.all(ofOneClient)).toEqual([true, true, false]);
    const ofOneNetwork = ["2", "3", "4"].map((subnet) => send(`2001:db8:2:${subnet}::1`));
    expect(await Promise.all(ofOneNetwork)).toEqual([true, true, false]);
    const ofAll = ["10.0.0.1", "10.0.0.2", "10.0.0.3"].map((address) => send(address));
    expect(await Promise.all(ofAll)).toEqual([true, true, false]);
    expect(await send("2001:db8:1:1::1"), "a stranger in a known network").toBe(true);
    expect(await send("2001:db8:2:9::1", "known"), "a known browser next to the flood").toBe(true);
    expect(await send("2001:db8:2:9::1", "known"), "beyond its own limit").toBe(false);
  });

  it("gives a request back to its client, but not to the network", async () => {
    const sent = sender("2001:db8:3:1::1");
    const accepted = [];
    for (let n = 0; n < 6; n++) {
      accepted.push((await consumeLimit("given back", limit, sent)) === undefined);
      if (accepted[n]) refundLimit("given back", limit, sent);
    }
    expect(accepted).toEqual([true, true, true, true, false, false]);

    const known = sender("2001:db8:4:1::1", "known");
    for (let n = 0; n < 3; n++) {
      expect(await consumeLimit("given back", limit, known)).toBeUndefined();
      refundLimit("given back", limit, known);
    }
  });
});

it("a quota does not change when the wall clock is set forward or back", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  const remaining = async () => {
    const { headers } = await consumeRateLimit("health", "a client");
    return headers[headers.indexOf("ratelimit-remaining") + 1];
  };
  const twoHoursMs = 2 * 60 * 60 * 1000;
  expect(await remaining()).toBe("119");
  vi.setSystemTime(Date.now() + twoHoursMs);
  expect(await remaining()).toBe("118");
  vi.setSystemTime(Date.now() - 2 * twoHoursMs);
  expect(await remaining()).toBe("117");
});
