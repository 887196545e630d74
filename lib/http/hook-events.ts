import { createHmac } from "node:crypto";
import * as z from "zod";
import type { Call } from "@/lib/http/call";
import { ApiError } from "@/lib/http/errors";
import type { HandlerOptions, Work } from "@/lib/http/handler";
import { requireSigned, type Unsigned } from "@/lib/http/hook-deliveries";
import { parseJson } from "@/lib/http/json";
import { errorParts } from "@/lib/http/response";
import { isSameSecret } from "@/lib/runtime/keyed-hash";
import { log } from "@/lib/runtime/log";

/** Processes one type of event, which may be delivered twice, late and out of order. */
type EventHandler = (data: unknown, nowMs: number) => Promise<void>;

/** A handler of events with data of this schema. Other data is logged without its values, and is a 400. */
export function eventWith<Schema extends z.ZodType>(
  schema: Schema,
  process: (data: z.output<Schema>, nowMs: number) => Promise<void>,
): EventHandler {
  return (data, nowMs) => {
    const parsed = schema.safeParse(data);
    if (parsed.success) return process(parsed.data, nowMs);
    const fields = [...new Set(parsed.error.issues.map(({ path }) => path.join(".")))];
    log().warn({ fields }, "a delivery was refused, because its data could not be read");
    throw new ApiError("invalid_request");
  };
}

/**
 * The work of a provider's webhook: 204 after the event has been processed, and for unknown events. The content of a delivery
 * is never logged. Handlers are named by the event's `type`.
 */
export function processEvents(handlers: Record<string, EventHandler>): Work<ProviderEvent> {
  return async ({ nowMs }, event) => {
    const handler = Object.hasOwn(handlers, event.type) ? handlers[event.type] : undefined;
    await handler?.(event.data, nowMs);
    return { status: 204, body: null };
  };
}

/**
 * What its handler checks: 400 `invalid_signature` if the signature is missing or wrong, and `invalid_request` if the event
 * cannot be read; 503 if processing fails, so that the provider delivers it again.
 *
 * @param key - returns the shared key; without one, no body is read
 */
export function signedWith(key: () => Buffer | undefined): HandlerOptions<ProviderEvent> {
  const requireKey = (): Buffer => {
    const shared = key();
    if (!shared) throw new ApiError("invalid_signature");
    return shared;
  };
  return {
    requireKey: () => void requireKey(),
    identify: (call) => readEvent(call, requireKey()),
    explain: (error) => errorParts(error.status >= 500 ? new ApiError("unavailable") : error),
  };
}

const eventSchema = z.object({ type: z.string(), data: z.unknown() });

type ProviderEvent = z.infer<typeof eventSchema>;

/** The event of a delivery, whose signature shows that it is the provider's. Throws an {@link ApiError}. */
function readEvent({ path, headers, body, nowMs }: Call, key: Buffer): ProviderEvent {
  requireSigned(path, whyUnsigned(headers, body, key, nowMs), nowMs);
  const event = eventSchema.safeParse(parseJson(body)).data;
  if (!event) throw new ApiError("invalid_request", { message: "The delivery is not an event in JSON." });
  return event;
}

const toleranceSeconds = 5 * 60; // 5 minutes, early or late
const maxSignatures = 10; // a provider sends one for each of its keys

/**
 * Why a delivery has no valid signature; `undefined` if it has one (Standard Webhooks 1.0, with its own header names or
 * Svix's): HMAC-SHA-256 of `<id>.<timestamp>.<body>`, at most five minutes old. Of several signatures the first ten count.
 */
export function whyUnsigned(
  headers: Pick<Headers, "get">,
  body: Buffer,
  key: Buffer,
  nowMs: number,
): Unsigned | undefined {
  const header = (name: string) => headers.get(`webhook-${name}`) ?? headers.get(`svix-${name}`) ?? "";
  const [id, timestamp, signatures] = [header("id"), header("timestamp"), header("signature")];
  if (!id || !/^\d{1,12}$/.test(timestamp)) return "no signature";
  const expected = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest("base64");
  const isSame = (signature: string) => isSameSecret(signature, `v1,${expected}`);
  if (!signatures.split(" ", maxSignatures).some(isSame)) return "another secret";
  return Math.abs(nowMs / 1000 - Number(timestamp)) > toleranceSeconds ? "another time" : undefined;
}
