import { bodyLimits, type RateLimit, type RateLimitName, rateLimits } from "@/lib/config/limits";
import { settings } from "@/lib/config/settings";
import { isOutage } from "@/lib/db/store-outage";
import { readBody } from "@/lib/http/body";
import { cookieHeaders, readCookie, writeCookie } from "@/lib/http/cookies";
import { ApiError, tooManyRequests } from "@/lib/http/errors";
import { readKnownBrowser } from "@/lib/http/known-browser";
import type { Operation } from "@/lib/http/operations";
import { createRequestContext, type RequestContext } from "@/lib/http/request-context";
import {
  errorParts,
  finalizePageResponse,
  finalizeResponse,
  type HeaderList,
  type ResponseParts,
} from "@/lib/http/response";
import { requireBeforeSunset } from "@/lib/http/retirement";
import type { Method, Route } from "@/lib/http/route";
import { isEnabled } from "@/lib/http/router";
import { consumeLimit, consumeRateLimit, refundLimit, type Sender } from "@/lib/rate-limit/rate-limit";
import { log } from "@/lib/runtime/log";

const noBody = Buffer.alloc(0);

/** A request on its way through the checks to its handler. */
export class HandlerRequest {
  /** The body of a POST, up to the limit of its route. */
  body: Buffer = noBody;
  headers: Headers;
  readonly nowMs = Date.now();
  private known: { browser: string | undefined } | undefined;

  constructor(
    private readonly request: Request,
    readonly context: RequestContext,
  ) {
    this.headers = request.headers;
  }

  get url(): URL {
    return new URL(this.request.url);
  }

  /** The id of its browser, if that has signed in before. */
  get browser(): string | undefined {
    this.known ??= { browser: readKnownBrowser(this.headers) };
    return this.known.browser;
  }
}

/** Does the work of one route. Throws an {@link ApiError} to refuse. */
export type Handler = (request: HandlerRequest) => ResponseParts | Promise<ResponseParts>;

type RouteHandler = (request: Request) => Promise<Response>;

type HandlerOptions = {
  /** Checks `API-Version` or `Host`, on preflights too. Throws an {@link ApiError}. */
  checkAddressee?: (headers: Headers) => void;
  /** Accepts a POST from pages of other origins: it carries its own credential, and no cookie counts. */
  acceptsAnyOrigin?: boolean;
  /** Checks the headers of a POST before its body is read. Throws an {@link ApiError}. */
  checkPost?: (headers: Headers) => void;
  /** Renders a refusal or an unexpected failure; an ApiError in JSON by default. */
  renderError?: (error: ApiError, request: HandlerRequest) => ResponseParts | Promise<ResponseParts>;
  finalize?: (
    route: Route,
    context: RequestContext,
    parts: ResponseParts,
    rateLimitHeaders: HeaderList,
  ) => Response;
};

/**
 * Creates the route handler of an address: of an operation, the MCP server, a page, a form or a webhook. This is the
 * order of checks of every request. Before it, the router refuses unknown addresses (404) and methods (405).
 */
export function createHandler(route: Route, handler: Handler, options: HandlerOptions = {}): RouteHandler {
  const { checkAddressee, acceptsAnyOrigin, checkPost } = options;
  const { renderError = errorParts, finalize = finalizePageResponse } = options;
  return async (request) => {
    const { method, headers } = request;
    const context = createRequestContext(method, route.path, headers);
    const call = new HandlerRequest(request, context);
    let rateLimitHeaders: HeaderList = [];
    let parts: ResponseParts;
    if (!isEnabled(route)) return finalize(route, context, notFound(), rateLimitHeaders); // 404
    try {
      checkAddressee?.(headers); // 400 API-Version, 403 Host
      if (method === "OPTIONS") return finalize(route, context, preflight(route), rateLimitHeaders);
      requireBeforeSunset(route, call.nowMs); // 410
      if (route.quota) {
        const consumed = await consumeRateLimit(route.quota, request);
        rateLimitHeaders = consumed.headers;
        if (consumed.refused) throw tooManyRequests(consumed.refused); // 429
      }
      if (method === "POST" && !acceptsAnyOrigin) requireOwnOrigin(headers); // 403
      if (route.needsCookies && readCookie(headers, "office-probe") === undefined)
        return finalize(route, context, probeCookies(call), rateLimitHeaders); // 307
      if (route.limit) await requireWithinLimit(route.limit, call); // 429
      if (method === "POST") {
        checkPost?.(headers); // 415 Content-Type, 400 invalid_signature
        call.body = await readBody(request, route.takes ? bodyLimits[route.takes] : 0); // 413, 400
        if (route.takes === "form" && !acceptsAnyOrigin) requireStorable(call.body); // 400
      }
      parts = await handler(call);
    } catch (thrown) {
      const error = thrown instanceof ApiError ? thrown : unexpectedError(thrown, context);
      // What failed for a reason of ours is not the sender's to pay for.
      if (route.limit && isOurs(error)) refundLimit(route.limit, rateLimits[route.limit], call);
      parts = await renderError(error, call);
    }
    return finalize(route, context, parts, rateLimitHeaders);
  };
}

/** Creates the route handlers of an API route, by method. Every response has the default headers of the API. */
export function createApiHandlers<R extends Route>(
  route: R,
  handler: Handler,
  options: HandlerOptions,
): Record<R["methods"][number], RouteHandler> {
  const handle = createHandler(route, handler, {
    acceptsAnyOrigin: true,
    finalize: finalizeResponse,
    ...options,
  });
  return Object.fromEntries(route.methods.map((method: Method) => [method, handle])) as Record<
    R["methods"][number],
    RouteHandler
  >;
}

/**
 * Creates the route handlers of an operation, by method.
 *
 * @param handler - returns the body of the 200: an object is sent as JSON, a string as plain text
 */
export function createOperationHandlers<Op extends Operation>(
  operation: Op,
  handler: (request: HandlerRequest) => object | string | Promise<object | string>,
): Record<Op["methods"][number], RouteHandler> {
  return createApiHandlers(operation, async (call) => ({ status: 200, body: await handler(call) }), {
    checkAddressee: requireSupportedVersion,
  });
}

const notFound = () => errorParts(new ApiError("not_found"));

function requireSupportedVersion(headers: Headers): void {
  const version = headers.get("api-version");
  if (version === null || /^[ \t]*1[ \t]*$/.test(version)) return;
  throw new ApiError("invalid_request", {
    message: "The API-Version header names a version that is not supported.",
    hint: "Send 'API-Version: 1', or leave the header out.",
  });
}

/** `Allow` (RFC 9110 §9.3.7) and, where CORS allows any origin, the headers of a preflight. */
function preflight({ methods, anyOrigin }: Route): ResponseParts {
  const allow = methods.join(", ");
  const headers = ["allow", allow];
  if (anyOrigin) {
    headers.push("access-control-allow-methods", allow, "access-control-allow-headers", anyOrigin.sends);
    headers.push("access-control-max-age", "7200");
  }
  return { status: 204, body: null, headers };
}

/**
 * Refuses a POST from a page of another site. Browsers send `Origin` with every POST, and no page can forge it; a
 * request without one is not a browser's.
 */
function requireOwnOrigin(headers: Headers): void {
  const { appUrl } = settings();
  if (headers.get("origin") === appUrl) return;
  throw new ApiError("forbidden", {
    message: `Open this form at ${appUrl} instead.`,
    hint: "Forms are only accepted from our own pages.",
  });
}

export const probeSeconds = 10 * 60; // 10 minutes

/** Why a form was refused: its browser keeps no cookies. */
export const keepsNoCookies = new ApiError("invalid_request", {
  message: "This form needs a cookie.",
  hint: "Allow this site to set cookies, then try again.",
});

/**
 * Sends a form that needs cookies back to its own address by a 307, which keeps its method and fields (RFC 9110 §15.4.8)
 * and sets a cookie: pages from a shared cache cannot set one. Throws if it comes back without.
 */
function probeCookies({ url, context }: HandlerRequest): ResponseParts {
  if (url.searchParams.has("probed")) throw keepsNoCookies;
  const cookies = cookieHeaders([writeCookie("office-probe", "1", probeSeconds)]);
  return { status: 307, body: null, headers: ["location", `${context.path}?probed`, ...cookies] };
}

/** Spends one request of the sender's. Throws a 429, or the error that the limit names. */
export async function requireWithinLimit(
  name: RateLimitName,
  sender: Sender,
  counter: string = name,
): Promise<void> {
  const limit: RateLimit = rateLimits[name];
  const wait = await consumeLimit(counter, limit, sender);
  if (wait === undefined) return;
  if (limit.refusedAs) throw new ApiError(limit.refusedAs, { headers: { "retry-after": String(wait) } });
  throw tooManyRequests({ message: "Too many attempts from your network.", retryAfterSeconds: wait });
}

/** Whether a request failed because of the store or of us, and not of another service. */
function isOurs({ code, status }: ApiError): boolean {
  return code === "internal_error" || (code === "unavailable" && status === 503);
}

/** Refuses the byte that PostgreSQL can store in no text, in any field. */
function requireStorable(body: Buffer): void {
  if (!body.includes(0) && !body.includes("%00")) return;
  throw new ApiError("invalid_request", { message: "A field of the form contains a NUL." });
}

/** Logs a failure, and returns the error that the client gets: fixed words without the cause, 503 for an outage. */
export function unexpectedError(failure: unknown, { requestId }: RequestContext): ApiError {
  if (isOutage(failure)) {
    const { message } = failure as Error;
    log().warn({ because: message, requestId }, "refused for now, because of an outage");
    return new ApiError("unavailable");
  }
  log().error({ err: failure, requestId }, "unexpected failure");
  return new ApiError("internal_error");
}
