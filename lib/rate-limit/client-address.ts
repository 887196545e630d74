import { createHmac } from "node:crypto";
import { isIP, isIPv6 } from "node:net";
import { type Settings, settings } from "@/lib/config/settings";
import { processSingleton } from "@/lib/process-singleton";
import { derivedKeys } from "@/lib/runtime/app-secret";
import { LruCache } from "@/lib/runtime/lru-cache";

const socketOwner = () => processSingleton("socket owner", () => ({ isFrontServer: false }));

/**
 * Says that our front server owns the socket in this process: like any proxy it appends its peer to
 * `X-Forwarded-For`, so the rightmost entry is true whatever a client sent.
 */
export function trustForwardedPeer(): void {
  socketOwner().isFrontServer = true;
}

const maxCachedAddresses = 20_000; // about 5 MB

// The hash costs more than the rest of a health check; recent ones are kept, only in memory.
const keyCache = () => processSingleton("recent client keys", () => new LruCache<string>(maxCachedAddresses));

/**
 * The client's address, grouped and keyed-hashed: what a counter may store and nobody can turn back.
 * Clients whose address cannot be known share one key.
 */
export function rateLimitKey(headers: Headers): string {
  const address = clientAddress(headers) ?? "unknown";
  let key = keyCache().get(address);
  if (!key) {
    key = hashAddress(groupAddress(address));
    keyCache().set(address, key);
  }
  return key;
}

/**
 * The key of a client that can be told from all others; `undefined` where it cannot. What holds one client back must
 * not hold back everybody, so who cannot be told apart shares a wide bound instead of a narrow one.
 */
export function knownClientKey(headers: Headers): string | undefined {
  return isProxyMisconfigured() || !clientAddress(headers) ? undefined : rateLimitKey(headers);
}

/**
 * The key of a client's network, an IPv4 address or an IPv6 /48, which one customer of a provider may have whole: for
 * what an address may do so seldom that 65,536 of them are an attack. `undefined` as in {@link knownClientKey}.
 */
export function ownNetworkKey(headers: Headers): string | undefined {
  const address = isProxyMisconfigured() ? undefined : clientAddress(headers);
  return address && hashAddress(groupAddress(address, 48));
}

/**
 * The network of a client as people are told of it, coarse enough to name no household: an IPv4 /24 or an IPv6 /48;
 * `undefined` where the address cannot be known.
 */
export function clientNetwork(headers: Headers): string | undefined {
  const address = isProxyMisconfigured() ? undefined : clientAddress(headers);
  if (!address) return undefined;
  const grouped = groupAddress(address);
  return grouped.includes(":")
    ? `${grouped.split(":").slice(0, 3).join(":")}::/48`
    : grouped.replace(/\d+$/, "x");
}

/** Whether a proxy must be there, since we speak no https ourselves, of which nobody told us: it is every client's peer. */
export function isProxyMisconfigured(
  {
    appUrl,
    trustedProxyHops,
    onVercel,
  }: Pick<Settings, "appUrl" | "trustedProxyHops" | "onVercel"> = settings(),
): boolean {
  return appUrl.startsWith("https:") && trustedProxyHops === 0 && !onVercel;
}

function hashAddress(group: string): string {
  const hash = createHmac("sha256", derivedKeys("client-address:v1")[0]).update(group);
  return hash.digest("base64url").slice(0, 22);
}

/**
 * The address that a header a client can send does not move: the N-th from the right of
 * `X-Forwarded-For` for N trusted proxies, each of which appended one. A header too short or malformed
 * there falls back to the peer of our socket; without one there is no address to trust.
 */
export function clientAddress(
  headers: Headers,
  { trustedProxyHops, onVercel }: Pick<Settings, "trustedProxyHops" | "onVercel"> = settings(),
  { isFrontServer } = socketOwner(),
): string | undefined {
  if (onVercel) return parseAddress(headers.get("x-vercel-forwarded-for") ?? "");
  const chain = headers.get("x-forwarded-for")?.split(",") ?? [];
  const peer = isFrontServer ? parseAddress(chain.pop() ?? "") : undefined;
  return (trustedProxyHops > 0 && parseAddress(chain.at(-trustedProxyHops) ?? "")) || peer;
}

// A client sends the same text each time; what is read of a short one is remembered.
const cached = new LruCache<{ address: string | undefined }>(maxCachedAddresses);
const maxRemembered = 64;

/** The bare address in `1.2.3.4:80`, `[::1]:443` or `fe80::1%eth0`; none if there is not one. */
export function parseAddress(text: string): string | undefined {
  const known = cached.get(text);
  if (known) return known.address;
  const address = readAddress(text);
  if (text.length <= maxRemembered) cached.set(text, { address });
  return address;
}

function readAddress(text: string): string | undefined {
  const trimmed = text.trim();
  const bare = /^\[([^\]]*)\](?::\d+)?$/.exec(trimmed)?.[1] ?? /^([\d.]+):\d+$/.exec(trimmed)?.[1] ?? trimmed;
  const address = bare.replace(/%.*$/, "");
  return isIP(address) ? address : undefined;
}

/** One client is an IPv4 address, also when written as IPv6 (`::ffff:1.2.3.4`), or an IPv6 /64, one household. */
export function groupAddress(address: string, prefixBits: 48 | 64 = 64): string {
  if (!isIPv6(address)) return address;
  const groups = expandIPv6(address);
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  const octets = groups.slice(6).flatMap((pair) => [pair >> 8, pair & 255]);
  const network = groups.slice(0, prefixBits / 16).map((group) => group.toString(16));
  return isMapped ? octets.join(".") : `${network.join(":")}::/${prefixBits}`;
}

/** The eight 16-bit groups of an IPv6 address that `parseAddress` let through. */
function expandIPv6(address: string): number[] {
  const hex = address.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, ...octets) => {
    const [a = 0, b = 0, c = 0, d = 0] = octets.slice(0, 4).map(Number);
    return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
  });
  const [head = "", tail] = hex.split("::");
  const parse = (part: string) => (part ? part.split(":").map((group) => Number.parseInt(group, 16)) : []);
  const left = parse(head);
  if (tail === undefined) return left;
  const right = parse(tail);
  return [...left, ...new Array<number>(8 - left.length - right.length).fill(0), ...right];
}
