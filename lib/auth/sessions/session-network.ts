import type { Client } from "@/lib/rate-limit/client";
import { groupAddress } from "@/lib/rate-limit/client-address";

/** A client's network for display: an IPv4 /24 or an IPv6 /48, too coarse for a household; `undefined` if unknown. */
export function clientNetwork({ knownAddress: address }: Client): string | undefined {
  if (!address) return undefined;
  // A browser may reach `localhost` by either address.
  const grouped = groupAddress(address === "::1" ? "127.0.0.1" : address);
  return grouped.includes(":")
    ? `${grouped.split(":").slice(0, 3).join(":")}::/48`
    : grouped.replace(/\d+$/, "0/24");
}

/** The network that gets an app's tokens. Those of hosted agents are one: an agent there uses whichever is free. */
export function tokenNetwork(client: Client): string | undefined {
  return client.isHosted ? "hosted-agents" : clientNetwork(client);
}
