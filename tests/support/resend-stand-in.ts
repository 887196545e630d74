import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { serve } from "@/tests/support/loopback";
import type { Environment } from "@/tests/support/service";

/** How it handles a request. `lost` accepts the mail and drops the connection before it responds. */
export type Fault =
  | "none"
  | "429"
  | "500"
  | "html"
  | "400"
  | "concurrent"
  | "422"
  | "422 from"
  | "451"
  | "403"
  | "reset"
  | "slow"
  | "silent"
  | "lost";

export type Accepted = {
  atMs: number;
  key: string;
  body: {
    from: string;
    to: string;
    subject: string;
    text: string;
    html: string;
    headers: Record<string, string>;
    reply_to?: string;
  };
};

const apiKey = "re_test";
const errors = {
  "403": { statusCode: 403, name: "invalid_api_key", message: "API key is invalid" },
  "400": { statusCode: 400, name: "validation_error", message: "The `html` field is not a string." },
  concurrent: { statusCode: 409, name: "concurrent_idempotent_requests", message: "It is in work." },
  "422": { statusCode: 422, name: "validation_error", message: "Invalid `to` field." },
  "422 from": {
    statusCode: 422,
    name: "validation_error",
    message:
      "Invalid `from` field. The email address needs to follow the `email@example.com` or `Name <email@example.com>` format.",
  },
  "451": { statusCode: 451, name: "security_error", message: "We may have found a security issue." },
  "429": { statusCode: 429, name: "rate_limit_exceeded", message: "Too many requests." },
  "500": { statusCode: 500, name: "internal_server_error", message: "Something went wrong." },
};

/**
 * A fake Resend server on loopback: a sending-only key, `POST /emails` with idempotency keys, and faults on request.
 *
 * @param faultOf - returns the fault of the next request; by default `fault`, which a test may set
 */
export async function startResendStandIn(faultOf?: () => Promise<Fault>) {
  const resend = {
    fault: "none" as Fault,
    accepted: [] as Accepted[],
    requests: 0,
    retryAfterSeconds: 1,
    /** The same provider without faults. */
    calmUrl: "",
    environment: {} as Environment,
    stop: async () => {},
  };
  const remembered = new Map<string, { body: string; id: string }>();

  const { url, stop } = await serve(async (incoming, outgoing) => {
    resend.requests++;
    const answer = (status: number, body: unknown, headers = {}) =>
      outgoing
        .writeHead(status, { "content-type": "application/json", ...headers })
        .end(JSON.stringify(body));
    // A killed runner aborts in the middle of a request.
    const body = await text(incoming).catch(() => undefined);
    if (body === undefined) return;
    const isCalm = incoming.url?.startsWith("/calm/");
    const met = (await faultOf?.()) ?? resend.fault;
    const fault = isCalm ? "none" : met;
    if (fault === "reset") return incoming.socket.destroy();
    if (fault === "silent") return;
    if (fault === "slow") await sleep(300);
    if (fault === "html") return outgoing.writeHead(502).end("<h1>Bad gateway</h1>");
    if (fault === "429")
      return answer(429, errors[fault], { "retry-after": String(resend.retryAfterSeconds) });
    if (fault in errors) {
      const error = errors[fault as keyof typeof errors];
      return answer(error.statusCode, error);
    }
    if (incoming.headers.authorization !== `Bearer ${apiKey}`) return answer(403, errors["403"]);
    if (!incoming.url?.endsWith("/emails")) {
      return answer(401, { statusCode: 401, name: "restricted_api_key", message: "Only to send." });
    }
    const key = String(incoming.headers["idempotency-key"] ?? "");
    const known = remembered.get(key);
    if (known && known.body !== body) {
      return answer(409, { statusCode: 409, name: "invalid_idempotent_request", message: "Another body." });
    }
    if (!known) {
      remembered.set(key, { body, id: crypto.randomUUID() });
      resend.accepted.push({ atMs: Date.now(), key, body: JSON.parse(body) });
    }
    if (fault === "lost") return incoming.socket.destroy();
    answer(200, { id: remembered.get(key)?.id });
  });

  resend.environment = {
    EMAIL_FROM: "Corner Office <office@example.com>",
    RESEND_API_KEY: apiKey,
    RESEND_BASE_URL: url,
  };
  resend.calmUrl = `${url}/calm`;
  resend.stop = stop;
  return resend;
}
