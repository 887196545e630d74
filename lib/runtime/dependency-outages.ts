import { processSingleton } from "@/lib/process-singleton";

/** What this process uses only occasionally: `writes` are those to a store that can be read, `fulfilment` asks Stripe. */
type Dependency = "mail" | "writes" | "fulfilment";

const since = () => processSingleton("outages", () => new Map<Dependency, number>());

/** Records whether a dependency was available when it was last used. */
export function recordOutage(dependency: Dependency, isUnavailable: boolean): void {
  if (!isUnavailable) since().delete(dependency);
  else if (!since().has(dependency)) since().set(dependency, Date.now());
}

/** Since when a dependency has been unavailable, in Unix milliseconds; `undefined` if it was there at its last use. */
export function outageSince(dependency: Dependency): number | undefined {
  return since().get(dependency);
}
