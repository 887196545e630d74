import { isIP, isIPv4, isIPv6 } from "node:net";
import { maxClientsOfNetwork } from "@/lib/config/limits";
import { type Settings, settings } from "@/lib/config/settings";
import { perProcess } from "@/lib/per-process";
import { keyedHash } from "@/lib/runtime/keyed-hash";
import { RecentCache } from "@/lib/runtime/recent-cache";

const socketOwner = perProcess("socket owner", () => ({ isFrontServer: false }));

/** Notes that our server owns the sockets in this process. */
export function ownSockets(): void {
  socketOwner().isFrontServer = true;
}

/** Whether our server owns the sockets, so that its background work runs in this process. */
export const isFrontServer = () => socketOwner().isFrontServer;

/** A keyed hash of a client's grouped address, for counters. */
export function clientKey(address: string): string {
  const client = groupAddress(address);
  return client.endsWith("::/64") ? countedKey(client) : hashAddress(client);
}

/** A keyed hash of a client's network: its IPv4 address, or an IPv6 /48. */
export function networkKey(address: string): string {
  return hashAddress(groupAddress(address, 48));
}

const countedFor = { ms: 10 * 60_000, clients: 20_000 }; // 10 minutes; 6 MB

const countedClients = perProcess("counted clients", () => ({
  keys: new Map<string, string>(),
  ofNetworks: new Map<string, number>(),
  untilMs: 0,
}));

/**
 * The key of a client of IPv6, or of its /56 if its /48 has had {@link maxClientsOfNetwork} others lately: one customer may
 * hold 65,536 of them, each of which would be a key of every counter. A mobile carrier gives each phone one, so the others
 * of a /48 are not a single client, which any of them could shut out.
 */
function countedKey(client: string): string {
  const nowMs = performance.now();
  const counted = countedClients();
  if (nowMs >= counted.untilMs || counted.keys.size >= countedFor.clients)
    Object.assign(counted, { keys: new Map(), ofNetworks: new Map(), untilMs: nowMs + countedFor.ms });
  const known = counted.keys.get(client);
  if (known) return known;
  const network = client.replace(/:[^:]*::\/64$/, "::/48");
  const count = counted.ofNetworks.get(network) ?? 0;
  if (count >= maxClientsOfNetwork) return hashAddress(groupAddress(client.replace("/64", ""), 56));
  const key = hashAddress(client);
  counted.keys.set(client, key);
  counted.ofNetworks.set(network, count + 1);
  return key;
}

// A hash costs more than the rest of a health check. They are kept only in memory.
const recentHashes = perProcess("hashes of addresses", () => new RecentCache<string>(20_000));

function hashAddress(group: string): string {
  const known = recentHashes().get(group);
  if (known !== undefined) return known;
  const hash = keyedHash("client-address:v1", group).slice(0, 22);
  recentHashes().set(group, hash);
  return hash;
}

/**
 * A client's address, which no header of the client can change: for N trusted proxies, the N-th entry from the right of
 * `X-Forwarded-For`. If that is missing or malformed, the peer of our socket; `undefined` without one.
 */
export function clientAddress(
  headers: Pick<Headers, "get">,
  peer: string | undefined,
  { trustedProxyHops, onVercel }: Pick<Settings, "trustedProxyHops" | "onVercel"> = settings(),
): string | undefined {
  if (onVercel) return parseAddress(headers.get("x-vercel-forwarded-for") ?? "");
  const forwarded = trustedProxyHops > 0 && headers.get("x-forwarded-for")?.split(",").at(-trustedProxyHops);
  return (forwarded && parseAddress(forwarded)) || parseAddress(peer ?? "");
}

/** The bare address in `1.2.3.4:80`, `[::1]:443` or `fe80::1%eth0`; `undefined` if there is none. */
export function parseAddress(text: string): string | undefined {
  const trimmed = text.trim();
  // Most are these, and the patterns below cost as much as all other checks.
  if (isIPv4(trimmed) || isIPv4(mappedIn(trimmed))) return trimmed;
  const bare = /^\[([^\]]*)\](?::\d+)?$/.exec(trimmed)?.[1] ?? /^([\d.]+):\d+$/.exec(trimmed)?.[1] ?? trimmed;
  const address = bare.replace(/%.*$/, "");
  return isIP(address) ? address : undefined;
}

/** Groups addresses into clients: an IPv4 address, also mapped or behind NAT64 (RFC 6052 §2.1), or an IPv6 /64. */
export function groupAddress(address: string, prefixBits: 48 | 56 | 64 = 64): string {
  if (!address.includes(":")) return address;
  const mapped = mappedIn(address);
  if (isIPv4(mapped)) return mapped;
  if (!isIPv6(address)) return address;
  const groups = expandIPv6(address);
  const hasIPv4 = ipv4Prefixes.some((prefix) => prefix.every((group, at) => group === groups[at]));
  const octets = groups.slice(6).flatMap((pair) => [pair >> 8, pair & 255]);
  const hidden = prefixBits === 56 ? 0xff : 0;
  const network = groups
    .slice(0, Math.ceil(prefixBits / 16))
    .map((group, at) => (at === 3 ? group & ~hidden : group).toString(16));
  return hasIPv4 ? octets.join(".") : `${network.join(":")}::/${prefixBits}`;
}

/** What follows the prefix of an IPv4 address on a socket of both families; nothing, if the prefix is not there. */
const mappedIn = (address: string) => (address.startsWith("::ffff:") ? address.slice(7) : "");

const ipv4Prefixes = [
  [0, 0, 0, 0, 0, 0xffff],
  [0x64, 0xff9b, 0, 0, 0, 0],
];

/** The groups of an IPv6 address, by the one spelling that the URL standard has for it. */
function expandIPv6(address: string): number[] {
  const [head = "", tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split("::");
  const parse = (part: string) => (part ? part.split(":").map((group) => Number.parseInt(group, 16)) : []);
  const [left, right] = [parse(head), parse(tail ?? "")];
  return [...left, ...new Array<number>(8 - left.length - right.length).fill(0), ...right];
}
