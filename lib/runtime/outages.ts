import { processSingleton } from "@/lib/process-singleton";

/** What this process depends on and hears of only now and then. */
type Dependency = "mail" | "pages";

const since = () => processSingleton("outages", () => new Map<Dependency, number>());

/** Notes how it went when something was last needed. */
export function recordOutage(dependency: Dependency, isAway: boolean, nowMs = Date.now()): void {
  if (!isAway) since().delete(dependency);
  else if (!since().has(dependency)) since().set(dependency, nowMs);
}

/** Since when something is away, Unix milliseconds; `undefined` where it was there when it was last needed. */
export function outageSince(dependency: Dependency): number | undefined {
  return since().get(dependency);
}
