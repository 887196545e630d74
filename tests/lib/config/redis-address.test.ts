import { describe, expect, it } from "vitest";
import { parseRedisAddress } from "@/lib/config/redis-address";

const plain = {
  kind: "server",
  tls: false,
  isVerified: true,
  credentials: {},
  database: 0,
  master: "",
  sentinelCredentials: {},
};
const credentials = { username: "me", password: "p@:ss" };

describe("parseRedisAddress", () => {
  it.each([
    ["redis://cache", { hosts: [{ host: "cache", port: 6379 }] }],
    ["rediss://[::1]:6380/2", { hosts: [{ host: "::1", port: 6380 }], tls: true, database: 2 }],
    ["valkey://cache/0", { hosts: [{ host: "cache", port: 6379 }] }],
    ["valkeys://me:p%40%3Ass@cache:6380", { hosts: [{ host: "cache", port: 6380 }], tls: true, credentials }],
    [
      "rediss://:secret@cache:6380?ssl_cert_reqs=None",
      {
        hosts: [{ host: "cache", port: 6380 }],
        tls: true,
        isVerified: false,
        credentials: { password: "secret" },
      },
    ],
    ["redis://me:p%40%3Ass@cache/1", { hosts: [{ host: "cache", port: 6379 }], credentials, database: 1 }],
    ["redis://me:p@:ss@cache", { hosts: [{ host: "cache", port: 6379 }], credentials }],
    [
      "redis://me:a/b?c#d@e@cache/1",
      {
        hosts: [{ host: "cache", port: 6379 }],
        credentials: { username: "me", password: "a/b?c#d@e" },
        database: 1,
      },
    ],
    [
      "redis://:%zz%E9@cache",
      { hosts: [{ host: "cache", port: 6379 }], credentials: { password: "%zz%E9" } },
    ],
    ["redis://:100%@cache", { hosts: [{ host: "cache", port: 6379 }], credentials: { password: "100%" } }],
    [
      "redis+sentinel://me:p%40%3Ass@a,b:26380/3?master=office&sentinelPassword=s%2Bt",
      {
        kind: "sentinel",
        hosts: [
          { host: "a", port: 26379 },
          { host: "b", port: 26380 },
        ],
        credentials,
        database: 3,
        master: "office",
        sentinelCredentials: { password: "s+t" },
      },
    ],
    [
      "rediss+cluster://:secret@a,b:6380",
      {
        kind: "cluster",
        hosts: [
          { host: "a", port: 6379 },
          { host: "b", port: 6380 },
        ],
        tls: true,
        credentials: { password: "secret" },
      },
    ],
  ])("reads %s", (text, expected) => {
    expect(parseRedisAddress(text)).toEqual({ ...plain, ...expected });
  });

  it.each([
    "https://cache",
    "redis://cache/name",
    "redis://a,b",
    "redis+sentinel://a,b",
    "redis://cache?master=office",
    "redis+cluster://a,b/1",
    "redis+sentinel://me:p@a,b?master=office&sentinelPassword=s@t",
  ])("rejects %s", (text) => {
    expect(parseRedisAddress(text)).toBeUndefined();
  });
});
