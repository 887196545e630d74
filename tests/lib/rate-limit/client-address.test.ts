import { describe, expect, it } from "vitest";
import { clientNetwork } from "@/lib/auth/sessions/session-network";
import { Client } from "@/lib/rate-limit/client";
import { clientAddress, groupAddress, parseAddress } from "@/lib/rate-limit/client-address";

describe("clientAddress", () => {
  const read = (forwarded: string | undefined, trustedProxyHops: number, peer?: string) =>
    clientAddress(new Headers(forwarded === undefined ? {} : { "x-forwarded-for": forwarded }), peer, {
      trustedProxyHops,
      onVercel: false,
    });

  it("is the peer of our server's connection, whatever the client wrote", () => {
    expect(read(undefined, 0, "192.0.2.1")).toBe("192.0.2.1");
    expect(read("198.51.100.1, 198.51.100.2", 0, "192.0.2.1")).toBe("192.0.2.1");
  });

  it("is the N-th entry from the right for N trusted proxies, never further left", () => {
    expect(read("203.0.113.9", 1, "10.0.0.1")).toBe("203.0.113.9");
    expect(read("6.6.6.6, 203.0.113.9", 1, "10.0.0.1")).toBe("203.0.113.9");
    expect(read("6.6.6.6, 203.0.113.9, 10.0.0.2", 2, "10.0.0.1")).toBe("203.0.113.9");
  });

  it("falls back to the peer when the header is too short or malformed", () => {
    expect(read(undefined, 1, "10.0.0.1")).toBe("10.0.0.1");
    expect(read("203.0.113.9", 3, "10.0.0.1")).toBe("10.0.0.1");
    expect(read("unknown", 1, "10.0.0.1")).toBe("10.0.0.1");
    expect(read("<script>", 1, "10.0.0.1")).toBe("10.0.0.1");
  });

  it("is unknown without our server, because the header is then the client's own", () => {
    expect(read("6.6.6.6", 0)).toBeUndefined();
    expect(read(undefined, 0)).toBeUndefined();
    expect(read("203.0.113.9", 1)).toBe("203.0.113.9");
  });

  it("is the platform's own header on Vercel", () => {
    const headers = new Headers({ "x-vercel-forwarded-for": "203.0.113.9", "x-forwarded-for": "6.6.6.6" });
    expect(clientAddress(headers, undefined, { trustedProxyHops: 0, onVercel: true })).toBe("203.0.113.9");
  });
});

it("clientNetwork is an IPv4 /24 or an IPv6 /48, and the same for both addresses of this computer", () => {
  const read = (peer: string) => clientNetwork(new Client(new Headers(), peer));
  expect(read("203.0.113.9")).toBe("203.0.113.0/24");
  expect(read("::ffff:203.0.113.9")).toBe("203.0.113.0/24");
  expect(read("2001:db8:7:8::9")).toBe("2001:db8:7::/48");
  expect(read("127.0.0.1")).toBe("127.0.0.0/24");
  expect(read("::1")).toBe("127.0.0.0/24");
});

describe("parseAddress", () => {
  it.each([
    ["192.0.2.1", "192.0.2.1"],
    [" 192.0.2.1:8080 ", "192.0.2.1"],
    ["[2001:db8::1]:443", "2001:db8::1"],
    ["x[2001:db8::1]:443", undefined],
    ["x192.0.2.1:8080", undefined],
    ["fe80::1%eth0", "fe80::1"],
    ["::ffff:192.0.2.1", "::ffff:192.0.2.1"],
    ["", undefined],
    ["999.0.2.1", undefined],
    ["192.0.2.1, 192.0.2.2", undefined],
  ])("%j is %j", (text, address) => {
    expect(parseAddress(text)).toBe(address);
  });
});

describe("groupAddress", () => {
  it.each([
    ["192.0.2.1", "192.0.2.1"],
    ["::ffff:192.0.2.1", "192.0.2.1"],
    ["::ffff:c000:201", "192.0.2.1"],
    ["0:0:0:0:0:ffff:c000:0201", "192.0.2.1"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:DB8:1:2::9", "2001:db8:1:2::/64"],
    ["::1", "0:0:0:0::/64"],
    ["64:ff9b::192.0.2.1", "192.0.2.1"],
    ["64:ff9b:1::192.0.2.1", "64:ff9b:1:0::/64"],
    // A network with a zero in it cannot make each of its addresses another client.
    ["2001:db8::ffff:192.0.2.1", "2001:db8:0:0::/64"],
    ["2001:db8:1:2:3:ffff:c000:201", "2001:db8:1:2::/64"],
  ])("%s is one client with %s", (address, group) => {
    expect(groupAddress(address)).toBe(group);
  });

  it.each([
    ["2001:db8:1:2f34::5", 56, "2001:db8:1:2f00::/56"],
    ["2001:db8:1:34::5", 56, "2001:db8:1:0::/56"],
    ["2001:db8:1:2f34::5", 48, "2001:db8:1::/48"],
    ["192.0.2.1", 56, "192.0.2.1"],
  ] as const)("%s is of /%i in %s", (address, bits, group) => {
    expect(groupAddress(address, bits)).toBe(group);
  });
});

it("a /48 with more than 256 clients in ten minutes has one more client for each /56, and its neighbours do not", () => {
  const keyOf = (address: string) => new Client(new Headers(), address).key;
  const first = Array.from({ length: 256 }, (_, n) => keyOf(`2001:db8:9:${n.toString(16)}::1`));
  expect(new Set(first).size).toBe(256);
  const others = ["2001:db8:9:1000::1", "2001:db8:9:1001::1", "2001:db8:9:10ff:2:3:4:5"].map(keyOf);
  expect(new Set(others).size).toBe(1);
  expect(first).not.toContain(others[0]);
  expect(keyOf("2001:db8:9:5::77"), "one of the first").toBe(first[5]);
  expect(keyOf("2001:db8:a:1::1")).not.toBe(keyOf("2001:db8:a:2::1"));
  // A mobile carrier gives each phone a /64 of one /48: none of them shuts all others out.
  expect(keyOf("2001:db8:9:1100::1"), "of another /56").not.toBe(others[0]);
  const last = Array.from({ length: 256 }, (_, n) => keyOf(`2001:db8:9:${(256 * n + 255).toString(16)}::1`));
  expect(new Set([...first, ...last]).size, "what one customer may fill").toBeLessThanOrEqual(512);
});
