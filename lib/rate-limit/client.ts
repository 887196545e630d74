import { settings } from "@/lib/config/settings";
import { clientAddress, clientKey, networkKey, parseAddress } from "@/lib/rate-limit/client-address";

/** Who sent a request, by the address that it came from. Each is worked out once. */
export class Client {
  /** Its address, which no header of its own can change; `undefined` if unknown. */
  readonly address: string | undefined;
  private ownKey: string | undefined;
  private networksKey: string | undefined;

  /**
   * @param headers - of its request
   * @param peer - the address at the other end of its connection, if our server owns that
   * @param isProxied - whether it may come through proxies; otherwise it is the peer
   */
  constructor(headers: Pick<Headers, "get">, peer: string | undefined, isProxied = true) {
    this.address = isProxied ? clientAddress(headers, peer) : parseAddress(peer ?? "");
  }

  /** The address, where the settings say of each client's what is true. */
  get knownAddress(): string | undefined {
    return settings().isBehindUnknownProxy ? undefined : this.address;
  }

  /** A keyed hash of its grouped address, for counters. Clients of unknown address share one. */
  get key(): string {
    this.ownKey ??= clientKey(this.address ?? "unknown");
    return this.ownKey;
  }

  /** The same of a known address. Unknown ones share one wide limit, so that none blocks all others. */
  get knownKey(): string | undefined {
    return this.knownAddress && this.key;
  }

  /**
   * A keyed hash of its network: an IPv4 address or an IPv6 /48, which one customer may hold. For what a limit per /64 would
   * allow one customer 65,536 times. `undefined` where its address is unknown.
   */
  get network(): string | undefined {
    this.networksKey ??= this.knownAddress && networkKey(this.knownAddress);
    return this.networksKey;
  }

  /** Whether it is in one of the networks of hosted agents. */
  get isHosted(): boolean {
    return this.address !== undefined && settings().hostedAgentNetworks?.has(this.address) === true;
  }
}

/** A browser that has signed in before, and the account that it signed in to last. */
export type KnownBrowser = { id: string; account: string };

/** The name of a circle of senders; a symbol for one that cannot be told from others. */
export type Circle = string | symbol;

/** The circles of a sender, by which everything that all share is shared; the widest first. */
export type Circles = { known: string; network: Circle; client: Circle };

/** The circles of a sender. Where addresses are unknown, each request is a network of its own. */
export function circlesOf(client: Client, browser?: KnownBrowser): Circles {
  if (browser) return { known: "known browsers", network: browser.account, client: browser.id };
  const network = client.network ?? Symbol();
  return { known: "strangers", network, client: client.knownKey ?? network };
}
