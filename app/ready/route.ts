import { handleOperation } from "@/lib/http/handler";
import { probes } from "@/lib/http/register/probes";
import { countProxies } from "@/lib/rate-limit/proxy-chain";
import { readinessProblems } from "@/lib/runtime/readiness";

/** Readiness for load balancers. Liveness is `/api/health`. */
export const { GET, HEAD } = handleOperation(probes.ready, {}, ({ headers, nowMs }) => {
  const proxies = countProxies(headers, nowMs);
  if (proxies !== undefined) return { status: 200, body: `proxies ${proxies}\n` };
  const missing = readinessProblems();
  if (missing.length === 0) return { status: 200, body: "ready\n" };
  return { status: 503, body: missing.map((reason) => `not ready: ${reason}\n`).join("") };
});
