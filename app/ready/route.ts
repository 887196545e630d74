import { createHandler } from "@/lib/http/handler";
import { probes } from "@/lib/http/register/probes";
import { readinessProblems } from "@/lib/runtime/readiness";

/** Readiness for load balancers. Liveness is `/api/health`. */
const ready = createHandler(probes.ready, () => {
  const missing = readinessProblems();
  if (missing.length === 0) return { status: 200, body: "ready\n" };
  return { status: 503, body: missing.map((reason) => `not ready: ${reason}\n`).join("") };
});

export { ready as GET, ready as HEAD };
