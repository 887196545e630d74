import {
  clientAddress,
  groupAddress,
  isHostedAgent,
  isProxyMisconfigured,
} from "@/lib/rate-limit/client-address";

/** A client's network for display: an IPv4 /24 or an IPv6 /48, too coarse for a household; `undefined` if unknown. */
export function clientNetwork(headers: Headers): string | undefined {
  const address = isProxyMisconfigured() ? undefined : clientAddress(headers);
  if (!address) return undefined;
  // A browser may reach `localhost` by either address.
  const grouped = groupAddress(address === "::1" ? "127.0.0.1" : address);
  return grouped.includes(":")
    ? `${grouped.split(":").slice(0, 3).join(":")}::/48`
    : grouped.replace(/\d+$/, "0/24");
}

/** The network that gets an app's tokens. Those of hosted agents are one: an agent there uses whichever is free. */
export function tokenNetwork(headers: Headers): string | undefined {
  return isHostedAgent(headers) ? "hosted-agents" : clientNetwork(headers);
}
