import { createHmac, timingSafeEqual } from "node:crypto";
import { z } from "zod";
import { readBody } from "@/lib/api/body";
import { ApiError } from "@/lib/api/errors";
import { type Answer, leave, refusal } from "@/lib/api/headers";
import { beginVisit } from "@/lib/api/visit";
import { log } from "@/lib/process/log";
import { bodyLimits } from "@/lib/settings/limits";

/** What becomes of one type of event. It may be delivered twice, late and out of order. */
type EventHandler = (data: unknown, nowMs: number) => Promise<void>;

const retryAfterSeconds = 30;

/**
 * The route handler of a provider's webhook, at an address under `/hooks`.
 *
 * 204 once the event is dealt with, and for one that we do not ask for. 400 `invalid_signature` unless it is
 * signed with our key; 413 past the bound; 503 when its handler fails, so that the provider delivers it again.
 * Nothing of a delivery is logged.
 *
 * @param key - reads the shared key; with none, no delivery can be verified
 * @param handlers - by the event's `type`
 */
export function webhook(key: () => Buffer | undefined, handlers: Record<string, EventHandler>) {
  return {
    async POST(request: Request): Promise<Response> {
      const visit = beginVisit(request.method, new URL(request.url).pathname, request.headers);
      let answer: Answer = { status: 204, body: null };
      try {
        await receive(request, key(), handlers);
      } catch (thrown) {
        if (!(thrown instanceof ApiError)) {
          log().error(
            { err: thrown, requestId: visit.requestId },
            "a webhook's event could not be dealt with",
          );
        }
        answer = refusal(thrown instanceof ApiError ? thrown : tryAgain());
      }
      return leave(undefined, visit, answer);
    },
  };
}

const eventSchema = z.object({ type: z.string(), data: z.unknown() });

async function receive(request: Request, key: Buffer | undefined, handlers: Record<string, EventHandler>) {
  const body = await readBody(request, bodyLimits.webhook);
  const nowMs = Date.now();
  if (!key || !isSigned(request.headers, body, key, nowMs)) throw new ApiError("invalid_signature");
  const event = eventSchema.safeParse(parseJson(body)).data;
  if (!event) throw new ApiError("invalid_request", { message: "The delivery is not an event in JSON." });
  const handler = Object.hasOwn(handlers, event.type) ? handlers[event.type] : undefined;
  await handler?.(event.data, nowMs);
}

const toleranceSeconds = 5 * 60; // 5 minutes, either way

/**
 * Whether a delivery is signed as Standard Webhooks 1.0 says, under its own header names or Svix's: HMAC-SHA-256
 * of `<id>.<timestamp>.<body>`, one of the `v1,…` signatures, at most five minutes old.
 */
export function isSigned(headers: Pick<Headers, "get">, body: Buffer, key: Buffer, nowMs: number): boolean {
  const header = (name: string) => headers.get(`webhook-${name}`) ?? headers.get(`svix-${name}`) ?? "";
  const [id, timestamp, signatures] = [header("id"), header("timestamp"), header("signature")];
  if (!id || !/^\d{1,12}$/.test(timestamp)) return false;
  if (Math.abs(nowMs / 1000 - Number(timestamp)) > toleranceSeconds) return false;
  const expected = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest("base64");
  return signatures.split(" ").some((signature) => isSame(signature, `v1,${expected}`));
}

function isSame(sent: string, expected: string): boolean {
  const [one, other] = [Buffer.from(sent), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}

function tryAgain(): ApiError {
  return new ApiError("unavailable", { headers: { "retry-after": String(retryAfterSeconds) } });
}
