import { answersWithinMs } from "@/lib/config/limits";
import { isKeyedHash, keyedHash } from "@/lib/runtime/keyed-hash";

/** An address that no client has (RFC 5737 §3), which `check` sends as a stranger could. */
const invented = "192.0.2.1";
const probe = "x-office-probe";
const path = "/ready";

const minuteOf = (nowMs: number) => Math.floor(nowMs / 60_000);

/**
 * How many proxies a request of `check` came through: those that appended to `X-Forwarded-For`, or the one that replaced it and
 * those after it. `undefined` for every other request, so that no stranger learns it.
 */
export function countProxies(
  headers: { get(name: string): string | null },
  nowMs: number,
): number | undefined {
  const proof = headers.get(probe);
  if (!proof) return undefined;
  const minutes = [minuteOf(nowMs), minuteOf(nowMs) - 1];
  if (!minutes.some((minute) => isKeyedHash(proof, "proxy-probe:v1", String(minute)))) return undefined;
  const chain = headers.get("x-forwarded-for")?.split(",") ?? [];
  return chain.filter((entry) => entry.trim() !== invented && entry.trim() !== "").length;
}

/** Asks the service at its public address how many proxies are before it, or returns in words why it does not say. */
export async function askForProxies(appUrl: string, nowMs: number): Promise<number | string> {
  const headers = {
    [probe]: keyedHash("proxy-probe:v1", String(minuteOf(nowMs))),
    "x-forwarded-for": invented,
  };
  const signal = AbortSignal.timeout(answersWithinMs.store);
  try {
    const answer = await fetch(new URL(path, appUrl), { headers, redirect: "error", signal });
    const [, count] = /^proxies (\d+)$/m.exec(await answer.text()) ?? [];
    return count === undefined ? `it answers ${answer.status}` : Number(count);
  } catch (failure) {
    const { message, cause } = failure as Error & { cause?: Error };
    return cause?.message || message;
  }
}
