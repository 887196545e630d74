import { perProcess } from "@/lib/per-process";

/** What this process uses only occasionally: `writes` are those to a store that can be read, `fulfilment` asks Stripe. */
type Dependency = "mail" | "writes" | "fulfilment";

/** For so long a mail outage is known that this process did not meet again: another instance may have sent what waited. */
const mailKnownForMs = 9 * 60_000; // 9 minutes: at first, failed mails are tried more often

const met = perProcess("outages", () => new Map<Dependency, { sinceMs: number; lastMs: number }>());

/** Records whether a dependency was available when it was last used. */
export function recordOutage(dependency: Dependency, isUnavailable: boolean): void {
  const lastMs = Date.now();
  if (!isUnavailable) met().delete(dependency);
  else met().set(dependency, { sinceMs: outageSince(dependency) ?? lastMs, lastMs });
}

/** Since when a dependency has been unavailable, in Unix milliseconds; `undefined` if it was there at its last use. */
export function outageSince(dependency: Dependency): number | undefined {
  const outage = met().get(dependency);
  if (outage && dependency === "mail" && Date.now() - outage.lastMs >= mailKnownForMs) return undefined;
  return outage?.sinceMs;
}
