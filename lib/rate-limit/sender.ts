import { knownClientKey, ownNetworkKey } from "@/lib/rate-limit/client-address";

/** A browser that has signed in before, and the account that it signed in to last. */
export type KnownBrowser = { id: string; account: string };

/** Who sent a request: its headers, and its browser if that has signed in before. */
export type Sender = { headers: Headers; browser: KnownBrowser | undefined };

/** The name of a circle of senders; a symbol for one that cannot be told from others. */
export type Circle = string | symbol;

/** The circles of a sender, by which everything that all share is shared; the widest first. */
export type Circles = { known: string; network: Circle; client: Circle };

/** The circles of a sender. Where addresses are unknown, each request is a network of its own. */
export function circlesOf({ headers, browser }: Sender): Circles {
  if (browser) return { known: "known browsers", network: browser.account, client: browser.id };
  const network = ownNetworkKey(headers) ?? Symbol();
  return { known: "strangers", network, client: knownClientKey(headers) ?? network };
}
