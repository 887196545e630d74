import { refusalPace } from "@/lib/config/limits";
import type { Client } from "@/lib/rate-limit/client";
import { shortRound } from "@/lib/runtime/short-round";

let inAll = 0;
let ofNetworks = new Map<string, number>();
let waiting: (() => void)[] = [];

/**
 * Bounds what refusals take of the processor, because a client that asks again as soon as it is refused spends nothing: in
 * each fifth of a second so many go out at once, then one more of each network, and its others wait for the next. Clients of
 * unknown address are one network.
 *
 * @returns `undefined` if a refusal may be sent now; otherwise it may once this resolves
 */
export function paceRefusal(client: Pick<Client, "network">): Promise<void> | undefined {
  if (inAll === 0) setTimeout(beginNext, refusalPace.everyMs).unref();
  if (++inAll <= refusalPace.inAll) return undefined;
  const name = client.network ?? "";
  const count = (ofNetworks.get(name) ?? 0) + 1;
  ofNetworks.set(name, count);
  if (count <= refusalPace.ofNetwork) return undefined;
  return new Promise<void>((resolve) => waiting.push(resolve)).then(shortRound);
}

function beginNext(): void {
  const due = waiting;
  inAll = 0;
  ofNetworks = new Map();
  waiting = [];
  for (const send of due) send();
}
