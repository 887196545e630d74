/*
 * The networks that an app got its tokens from, as `clientNetwork` writes them: one for each change, the last first. So an
 * app that stays where it is writes none.
 */

const maxNetworks = 8;

/** The networks in a session's row. */
export function readNetworks(stored: string | null): string[] {
  return stored?.split(" ") ?? [];
}

/** What the row says after tokens were got from this network. */
export function addNetwork(networks: readonly string[], network: string): string {
  return [network, ...networks].slice(0, maxNetworks).join(" ");
}

/**
 * Whether an app changes between networks and back: it has come back twice. So a copy of its token shows that is used
 * elsewhere while the app goes on, and not the one trip with a laptop.
 */
export function isInTurn(networks: readonly string[]): boolean {
  return networks.length - new Set(networks).size >= 2;
}
