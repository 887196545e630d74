import { asIso } from "@/lib/config/instants";
import { type Db, store } from "@/lib/db/store";
import { ApiError } from "@/lib/http/errors";
import { perProcess } from "@/lib/per-process";
import { log } from "@/lib/runtime/log";
import { metrics } from "@/lib/runtime/metrics";

/** Why a delivery is not the provider's, as far as can be told. */
export const unsigned = ["no signature", "another secret", "another time"] as const;
export type Unsigned = (typeof unsigned)[number];

const notedAfterMs = 60_000; // 1 minute: a line and a write of each kind, however many come
const shownForMs = 24 * 60 * 60 * 1000; // 1 day

const noted = perProcess("deliveries that were noted", () => new Map<string, number>());

/**
 * Counts a delivery to one of our webhooks, and refuses it if its signature is not the provider's. When one was accepted or
 * refused last is stored, because a secret that was rotated on one side alone is noticed by nothing else. What has no
 * signature is a stranger's.
 *
 * @param why - why its signature is not valid; `undefined` if it is
 */
export function requireSigned(hook: string, why: Unsigned | undefined, nowMs: number): void {
  metrics()?.hookDeliveries.inc({ hook, outcome: why ?? "accepted" });
  if (why !== "no signature") note(hook, why, nowMs);
  if (why) throw new ApiError("invalid_signature");
}

function note(hook: string, reason: Unsigned | undefined, nowMs: number): void {
  const kind = `${hook} ${reason ?? "accepted"}`;
  if (nowMs - (noted().get(kind) ?? Number.NEGATIVE_INFINITY) < notedAfterMs) return;
  noted().set(kind, nowMs);
  if (reason) log().warn({ hook, reason }, "a delivery was refused, because its signature is not valid");
  const row = reason ? { refused_at_ms: nowMs, reason } : { accepted_at_ms: nowMs };
  const write = async () =>
    (await store())
      .insertInto("hook_deliveries")
      .values({ hook, ...row })
      .onConflict((conflict) => conflict.column("hook").doUpdateSet(row))
      .execute();
  write().catch((err) => log().warn({ err, hook }, "what came of a delivery could not be stored"));
}

/** Our webhooks that refused a delivery within the last day and have accepted none since, in words, and what to do. */
export async function findRefusing(db: Db, nowMs: number): Promise<{ what: string; remedy: string }[]> {
  const rows = await db
    .selectFrom("hook_deliveries")
    .selectAll()
    .where("refused_at_ms", ">", nowMs - shownForMs)
    .orderBy("hook")
    .execute();
  const refusing = rows.filter((row) => (row.accepted_at_ms ?? 0) < (row.refused_at_ms ?? 0));
  return refusing.map(({ hook, reason, refused_at_ms, accepted_at_ms }) => {
    const accepted =
      accepted_at_ms === null ? "never accepted any" : `accepted the last ${asIso(accepted_at_ms)}`;
    return {
      what: `${hook} refused a delivery ${asIso(refused_at_ms)}, signed with ${reason}, and ${accepted}`,
      remedy: reason === "another time" ? setClock : compareSecrets,
    };
  });
}

const setClock = "Set this machine's clock by NTP: a delivery may be five minutes old.";
const compareSecrets =
  "Compare the signing secret at the provider with the setting of this service. If they are the same, someone else sent it.";
