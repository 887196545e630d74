import { EventEmitter } from "node:events";
import type { ServerResponse } from "node:http";
import { expect, it } from "vitest";
import { maxRequestsInWork } from "@/lib/config/limits";
import type { Client } from "@/lib/rate-limit/client";
import { countInWork } from "@/lib/server/requests-in-work";

it("as many requests of a network are in work again as before, once those that overlapped are done", () => {
  const begin = (network: string) => {
    const outgoing = new EventEmitter() as unknown as ServerResponse;
    return { refusal: countInWork({ network } as Client, outgoing), end: () => outgoing.emit("close") };
  };
  for (const order of ["first", "last"]) {
    const begun = Array.from({ length: maxRequestsInWork }, () => begin("192.0.2.0/24"));
    expect(begun.flatMap(({ refusal }) => refusal ?? [])).toEqual([]);
    expect(begin("192.0.2.0/24").refusal).toMatchObject({ status: 429 });
    expect(begin("198.51.100.0/24").refusal).toBeUndefined();
    for (const { end } of order === "first" ? begun : begun.toReversed()) end();
  }
});
