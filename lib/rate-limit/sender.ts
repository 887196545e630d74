import { knownClientKey, ownNetworkKey } from "@/lib/rate-limit/client-address";

/** Who sent a request: its headers, and the id of its browser if that has signed in before. */
export type Sender = { headers: Headers; browser: string | undefined };

/** The name of a circle of senders; a symbol for one that cannot be told from others. */
export type Circle = string | symbol;

/** The circles of a sender, by which everything that all share is shared; the widest first. */
export type Circles = { known: string; network: Circle; client: Circle };

/** The circles of a sender. Where addresses are unknown, each request is a network of its own. */
export function circlesOf({ headers, browser }: Sender): Circles {
  if (browser) return { known: "known browsers", network: browser, client: browser };
  const network = ownNetworkKey(headers) ?? Symbol();
  return { known: "strangers", network, client: knownClientKey(headers) ?? network };
}
