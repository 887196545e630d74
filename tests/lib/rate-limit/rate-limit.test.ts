import { describe, expect, it, vi } from "vitest";
import { rateLimits } from "@/lib/config/limits";
import type { Call } from "@/lib/http/call";
import { refundOurs } from "@/lib/http/checks/limits";
import { ApiError, LimitError, tooManyRequests } from "@/lib/http/errors";
import type { Route } from "@/lib/http/route";
import { Client, circlesOf } from "@/lib/rate-limit/client";
import type { LocalCounter } from "@/lib/rate-limit/local-counter";
import {
  consumeLimit,
  consumeRateLimit,
  counter,
  rateLimitMessage,
  refundLimit,
} from "@/lib/rate-limit/rate-limit";
import { createFolder } from "@/tests/support/leash";

Object.assign(process.env, { DATA_DIR: createFolder() });
let refunds = 1;

describe("a limit of ours", () => {
  const limit = { perClient: 2, perNetwork: 4, inAll: 8, windowSeconds: 600 };
  /** Who sends from an address, in a browser that has signed in before if it is named: `<account> <id>`. */
  const sender = (address: string, known = "") => {
    const [account = "", id = ""] = known.split(" ");
    return circlesOf(new Client(new Headers(), address), known ? { id, account } : undefined);
  };
  /** Whose share refuses each of these in turn; `undefined` for one that is accepted. */
  const sendTo =
    (name: string, more: Partial<typeof limit> = {}) =>
    async (...senders: [address: string, known?: string][]) => {
      const refusals = [];
      for (const [address, known] of senders)
        refusals.push((await consumeLimit(name, { ...limit, ...more }, sender(address, known)))?.whose);
      return refusals;
    };
  const times = <T>(count: number, make: (n: number) => T) =>
    Array.from({ length: count }, (_, n) => make(n));

  it("holds for a client, a network and all strangers, and says whose share is used up", async () => {
    const send = sendTo("a limit");
    expect(await send(["2001:db8:2:1::1"], ["2001:db8:2:1::2"], ["2001:db8:2:1::3"])).toEqual([
      undefined,
      undefined,
      "client",
    ]);
    expect(await send(...times(3, (n) => [`2001:db8:2:${n + 2}::1`] as [string]))).toEqual([
      undefined,
      undefined,
      "network",
    ]);
    expect(await send(...times(5, (n) => [`10.0.0.${n}`] as [string]))).toEqual([
      ...times(4, () => undefined),
      "all",
    ]);
  });

  it("has as much for known browsers as for strangers: for one, for an account, and for all; in no network of theirs", async () => {
    const send = sendTo("known browsers");
    const known = (who: string): [string, string] => ["10.1.1.1", who];
    const [one, two, three] = [known("a 1"), known("a 2"), known("a 3")];
    expect(await send(...times(8, (n) => [`10.0.1.${n}`] as [string]))).toEqual(times(8, () => undefined));
    expect(await send(["10.0.1.9"], one, one, one)).toEqual(["all", undefined, undefined, "client"]);
    expect(await send(["10.1.1.1"]), "a stranger next to a known browser").toEqual(["all"]);
    expect(await send(two, two, three), "four of an account").toEqual([undefined, undefined, "network"]);
    expect(await send(...times(5, (n) => ["10.1.1.1", `other${n} b${n}`] as [string, string]))).toEqual([
      ...times(4, () => undefined),
      "all",
    ]);
  });

  it("keeps half of all for networks that have asked for little, whatever others ask for", async () => {
    const more = { perClient: 1000, perNetwork: 1000, inAll: 2 * 100 };
    const send = sendTo("little", more);
    const greedy = times(6, (network) => times(100, () => [`10.2.${network}.1`] as [string])).flat();
    const refused = await send(...greedy);
    expect(refused.filter((whose) => whose === undefined)).toHaveLength(100 + 6 * 10);
    expect(new Set(refused)).toEqual(new Set([undefined, "all"]));
    const newcomers = times(4, (network) => times(10, () => [`10.3.${network}.1`] as [string])).flat();
    expect(new Set(await send(...newcomers))).toEqual(new Set([undefined]));
    expect(await send(["10.3.9.1"]), "beyond that half").toEqual(["all"]);
  });

  it("keeps nothing of what it refuses", async () => {
    const send = sendTo("nothing kept", { perClient: 10 });
    const first = times(4, (n) => [`2001:db8:5:${n}::1`] as [string]);
    expect(await send(...first)).toEqual(times(4, () => undefined));
    const counters = ["nothing kept", "nothing kept-of-network", "nothing kept-in-all"];
    const kept = () => counters.map((name) => (counter(name, 0, 0) as LocalCounter).bytes);
    const before = kept();
    const others = times(100, (n) => [`2001:db8:5:1${n}::1`] as [string]);
    expect(new Set(await send(...others))).toEqual(new Set(["network"]));
    expect(kept()).toEqual(before);
  });

  it("gives a request back to its client, but not to the network", async () => {
    const sent = sender("2001:db8:3:1::1");
    const accepted = [];
    for (let n = 0; n < 6; n++) {
      accepted.push((await consumeLimit("given back", limit, sent)) === undefined);
      if (accepted[n]) refundLimit("given back", limit, sent);
    }
    expect(accepted).toEqual([true, true, true, true, false, false]);

    const known = sender("2001:db8:4:1::1", "an-account known");
    for (let n = 0; n < 3; n++) {
      expect(await consumeLimit("given back", limit, known)).toBeUndefined();
      refundLimit("given back", limit, known);
    }
  });
});

it.each([
  ["given back", "internal_error", {}],
  ["given back", "unavailable", {}],
  ["spent", "unavailable", { reason: "overloaded" }],
  ["spent", "unavailable", { status: 429 }],
  ["spent", "upstream_failed", {}],
] as const)("a request of a limit is %s after %s %j", async (what, code, more) => {
  const circles = circlesOf(new Client(new Headers(), `127.0.7.${refunds++}`), undefined);
  const send = () => consumeLimit("forms", rateLimits.forms, circles);
  for (let n = 0; n < rateLimits.forms.perClient; n++) expect(await send()).toBeUndefined();
  refundOurs({ circles } as Call, { limit: "forms" } as Route, new ApiError(code, more));
  expect((await send()) === undefined).toBe(what === "given back");
});

it("a refusal names its wait, of one second too", () => {
  expect(rateLimitMessage(120, 60, 1)).toBe(
    "Too many requests: 120 are allowed in 60 seconds, so wait 1 second.",
  );
  expect(new LimitError("all", 1).message).toBe(
    "Too many attempts from all networks together: wait 1 second.",
  );
  expect(tooManyRequests(2).message).toBe("Too many requests: wait 2 seconds.");
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
