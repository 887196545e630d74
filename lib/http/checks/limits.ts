import { type RateLimit, type RateLimitName, rateLimits } from "@/lib/config/limits";
import type { Call } from "@/lib/http/call";
import type { CheckOptions } from "@/lib/http/checks/check";
import { identify } from "@/lib/http/checks/credential";
import { ApiError, LimitError, tooManyRequests } from "@/lib/http/errors";
import { findKnownBrowser } from "@/lib/http/known-browser";
import { rememberCaller } from "@/lib/http/known-caller";
import { errorParts, type ResponseParts } from "@/lib/http/response";
import type { Route } from "@/lib/http/route";
import {
  consumeLimit,
  consumeRateLimit,
  type RateLimitResult,
  refundLimit,
} from "@/lib/rate-limit/rate-limit";

/**
 * Spends one request of a quota: of the client's, or under the key that its handler finds. Answers a refusal instead of
 * throwing it.
 */
export function requireWithinQuota(
  call: Call,
  { quota }: Route,
  { quotaKey }: CheckOptions<unknown>,
): ResponseParts | undefined | Promise<ResponseParts | undefined> {
  if (!quota) return undefined;
  const key = quotaKey?.(call);
  const spent = key
    ? key.then((found) => consumeRateLimit(quota, found ?? call.client.key))
    : consumeRateLimit(quota, call.client.key);
  return spent instanceof Promise ? spent.then((result) => tell(call, result)) : tell(call, spent);
}

/** The answers to refusals, each made once for all that get the same: a flood costs a fifth less. */
const refusals = new WeakMap<object, ResponseParts>();

function tell(call: Call, { headers, refused }: RateLimitResult): ResponseParts | undefined {
  call.quotaHeaders = headers;
  if (!refused) return undefined;
  const known = refusals.get(refused);
  if (known) return known;
  const error = tooManyRequests(refused.retryAfterSeconds, refused.message);
  const made = { ...errorParts(error), body: JSON.stringify(error), mediaType: "application/json" };
  refusals.set(refused, made);
  return made;
}

/** Finds the browser that has signed in before. On the ports of the office and the backend API the peer counts in its place. */
export function recognize(call: Call, { site }: Route): Promise<void> | undefined {
  if (site === "office" || site === "backend") {
    const { key } = call.client;
    call.browser = { id: key, account: key };
    return undefined;
  }
  return findKnownBrowser(call.headers, call.nowMs)?.then((browser) => {
    call.browser = browser;
    if (browser) rememberCaller(call.headers, browser.account, call.nowMs);
  });
}

/** Spends one request of the limit of its route. */
export async function requireWithinOwnLimit(
  call: Call,
  route: Route,
  options: CheckOptions<unknown>,
): Promise<void> {
  const { limit, credential } = route;
  if (!limit) return;
  await requireWithinLimit(call, limit).catch(async (refused) => {
    // A link that is not valid is refused as that, whatever its sender has spent: to verify it costs no more.
    if (credential === "link") await identify(call, route, options);
    throw refused;
  });
}

/** Spends one request of the sender's. Throws a 429, or the error that the limit names. */
export async function requireWithinLimit(
  { circles }: Call,
  name: RateLimitName,
  counter: string = name,
): Promise<void> {
  const limit: RateLimit = rateLimits[name];
  const refused = await consumeLimit(counter, limit, circles);
  if (!refused) return;
  const { whose, waitSeconds } = refused;
  if (!limit.refusedAs) throw new LimitError(whose, waitSeconds);
  const { code, ...words } = limit.refusedAs;
  throw new ApiError(code, { ...words, headers: { "retry-after": String(waitSeconds) } });
}

/** Gives a request back that failed because of the store or of us, and not of another service or of too many at once. */
export function refundOurs({ circles }: Call, { limit }: Route, { code, status, reason }: ApiError): void {
  const isOurs =
    code === "internal_error" || (code === "unavailable" && status === 503 && reason !== "overloaded");
  if (limit && isOurs) refundLimit(limit, rateLimits[limit], circles);
}
