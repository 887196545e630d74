import { refusal } from "@/lib/api/headers";
import { probes } from "@/lib/api/pages";
import { hall } from "@/lib/pages/hall";
import { whatIsNotReady } from "@/lib/process/readiness";

/** What a balancer asks before it sends us requests. That we live is said by `/api/health`. */
const ready = hall(
  probes.ready,
  () => {
    const missing = whatIsNotReady();
    if (missing.length === 0) return { status: 200, body: "ready\n" };
    return { status: 503, body: missing.map((reason) => `not ready: ${reason}\n`).join("") };
  },
  { say: (error) => refusal(error) },
);

export { ready as GET, ready as HEAD };
