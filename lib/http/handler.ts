import { bodyLimits, type RateLimit, type RateLimitName, rateLimits } from "@/lib/config/limits";
import { settings } from "@/lib/config/settings";
import { isOutage } from "@/lib/db/store-outage";
import { readBody } from "@/lib/http/body";
import { cookieHeaders, readCookie, writeCookie } from "@/lib/http/cookies";
import { allowNames } from "@/lib/http/cors";
import { ApiError, LimitError, tooManyRequests } from "@/lib/http/errors";
import { requireHostOfOffice, requireOurHost } from "@/lib/http/host-check";
import { IncomingRequest, OwnRequest } from "@/lib/http/incoming-request";
import { findKnownBrowser } from "@/lib/http/known-browser";
import { createRequestContext, type RequestContext } from "@/lib/http/request-context";
import {
  type Answer,
  errorParts,
  finalizeResponse,
  type HeaderList,
  type ResponseParts,
  toResponse,
} from "@/lib/http/response";
import { requireBeforeSunset } from "@/lib/http/retirement";
import type { Method, Route } from "@/lib/http/route";
import { isEnabled, methodNotAllowed } from "@/lib/http/router";
import { overloaded, turnsOf } from "@/lib/http/turns";
import { processSingleton } from "@/lib/process-singleton";
import { rateLimitKey } from "@/lib/rate-limit/client-address";
import { consumeLimit, consumeRateLimit, refundLimit } from "@/lib/rate-limit/rate-limit";
import { circlesOf, type KnownBrowser, type Sender } from "@/lib/rate-limit/sender";
import { log } from "@/lib/runtime/log";
import { shortRound } from "@/lib/runtime/short-round";

type Check = {
  isAsked: (route: Route) => unknown;
  ofPost?: true;
  /** Refuses by throwing an {@link ApiError}, or answers in place of the handler. */
  run: (
    call: HandlerRequest,
  ) => ResponseParts | undefined | void | Promise<ResponseParts | undefined> | Promise<void>;
};

const always = () => true;

/**
 * The checks of every request, in this order: of operations, the MCP server, pages, forms, the authorization server,
 * webhooks and the operators' office. A route's entry in its register says which of them it asks for.
 */
const checks: readonly Check[] = [
  { isAsked: always, run: requireEnabled }, // 404
  { isAsked: always, run: requireMethod }, // 405
  { isAsked: ({ isVersioned }) => isVersioned, run: requireVersion1 }, // 400
  { isAsked: ({ host }) => host === "ours", run: requireOurHost }, // 403
  { isAsked: ({ host }) => host === "office", run: requireHostOfOffice }, // 421
  { isAsked: ({ methods }) => methods.some((method) => method === "OPTIONS"), run: answerOptions }, // 204
  { isAsked: always, run: ({ route, nowMs }) => requireBeforeSunset(route, nowMs) }, // 410
  { isAsked: ({ quota }) => quota, run: requireWithinQuota }, // 429
  { isAsked: ({ origin }) => origin === "own", ofPost: true, run: requireOwnOrigin }, // 403
  { isAsked: ({ needsCookies }) => needsCookies, ofPost: true, run: probeCookies }, // 307, 400
  { isAsked: ({ limit }) => limit, run: recognize },
  { isAsked: ({ limit }) => limit, run: requireWithinOwnLimit }, // 429
  { isAsked: ({ needsBilling }) => needsBilling, run: requireBilling }, // 503
  { isAsked: ({ credential }) => credential === "signature", ofPost: true, run: requireKey }, // 400, 503
  { isAsked: ({ methods }) => methods.some((method) => method === "POST"), ofPost: true, run: takeBody }, // 413, 400
  { isAsked: ({ credential }) => credential, run: identify }, // 401, 403, 409, 503
  { isAsked: ({ needsProof }) => needsProof, run: requireProof }, // 403
];

const noBody = Buffer.alloc(0);

/** A request on its way through the checks to its handler. */
export class HandlerRequest {
  /** The body of a POST, up to the limit of its route. */
  body: Buffer = noBody;
  headers: Headers;
  readonly nowMs = Date.now();
  /** Whether its address exists and accepts its method. */
  isRouted = false;
  quotaHeaders: HeaderList = [];
  who: unknown;
  /** Its browser, if that has signed in before to an account that still exists. */
  browser: KnownBrowser | undefined;

  constructor(
    readonly request: Request,
    readonly route: Route,
    readonly context: RequestContext,
    readonly options: Pick<HandlerOptions<unknown>, "requireKey" | "quotaKey" | "identify" | "hasProof">,
  ) {
    this.headers = request.headers;
  }

  get url(): URL {
    return new URL(this.request.url);
  }

  /** Reads a trimmed field of a form. */
  get field(): (name: string) => string {
    return readerOf(this.body.toString());
  }

  /** Reads such a field for the redirect to the form's page: from the page's own address, if no body was read. */
  get fieldOfPage(): (name: string) => string {
    return this.body.length > 0 ? this.field : readerOf(this.headers.get("referer")?.split("?", 2)[1]);
  }
}

function readerOf(encoded: string | undefined): (name: string) => string {
  const fields = new URLSearchParams(encoded);
  return (name) => fields.get(name)?.trim() ?? "";
}

/** Does the work of one route, for who sent the request. Throws an {@link ApiError} to refuse. */
export type Handler<Who = undefined> = (
  call: HandlerRequest,
  who: Who,
) => ResponseParts | Promise<ResponseParts>;

/** A platform gets a Response, our own server for its {@link IncomingRequest} the {@link Answer}. */
export type RouteHandler = (request: Request) => Promise<Response>;

export type HandlerOptions<Who> = {
  /** Throws an {@link ApiError} if no signature can be verified: the body is not read. */
  requireKey?: () => void;
  /** The key that the quota counts; undefined for the client's own. */
  quotaKey?: (call: HandlerRequest) => Promise<string | undefined> | undefined;
  /** Finds who sent a request, where the entry names a credential. Throws an {@link ApiError}. */
  identify?: (call: HandlerRequest) => Who | Promise<Who>;
  /** Whether they have proved in the last five minutes who they are, where the entry asks for that. */
  hasProof?: (who: Who, nowMs: number) => boolean;
  /** Renders a refusal or an unexpected failure; an ApiError in JSON by default. */
  renderError?: (error: ApiError, call: HandlerRequest) => ResponseParts | Promise<ResponseParts>;
};

/**
 * Creates the route handler of an address. It walks the {@link checks} that the route asks for, does the work, and
 * finishes the answer. An error that is thrown anywhere becomes an answer here and nowhere else.
 */
export function createHandler<Who = undefined>(
  route: Route,
  handler: Handler<Who>,
  options: HandlerOptions<Who> = {},
): RouteHandler {
  const { renderError = errorParts } = options;
  if (route.credential && !options.identify) throw new Error(`${route.path}: no one reads its credential`);
  if (route.needsProof && !options.hasProof) throw new Error(`${route.path}: no one asks for the proof`);
  const asked = checks.filter(({ isAsked }) => isAsked(route));
  const answer = async (request: Request): Promise<Answer> => {
    const { method, headers } = request;
    const context = createRequestContext(method, route.path, headers);
    context.isOwn = request instanceof OwnRequest;
    const call = new HandlerRequest(request, route, context, options as HandlerOptions<unknown>);
    let parts: ResponseParts | undefined;
    try {
      for (const { ofPost, run } of asked) {
        if (ofPost && method !== "POST") continue;
        const answer = run(call);
        parts = (answer instanceof Promise ? await answer : answer) ?? undefined;
        if (parts) break;
      }
      parts ??= await inTurn(call, () => handler(call, call.who as Who));
    } catch (thrown) {
      const error = thrown instanceof ApiError ? thrown : unexpectedError(thrown, context);
      // What failed because of us is not the sender's to pay for.
      if (route.limit && isOurs(error)) refundLimit(route.limit, rateLimits[route.limit], call);
      // Outside the office, an address that is none and a method that is refused are answered in JSON.
      if (!call.isRouted && route.site !== "office") {
        return finalizeResponse(route.site ? route : undefined, context, errorParts(error));
      }
      parts = await renderError(error, call);
    }
    return finalizeResponse(route, context, parts, call.quotaHeaders);
  };
  return (request) =>
    request instanceof IncomingRequest
      ? (answer(request) as Promise<unknown> as Promise<Response>)
      : answer(request).then(toResponse);
}

/**
 * Renders pages, and does the work of forms that strangers can send, in turns, so that no one waits behind a flood of them
 * for the processor, a connection or a lock of the store. Apps' requests may wait for another service, so they have none.
 */
function inTurn<T>(call: HandlerRequest, work: () => T | Promise<T>): T | Promise<T> {
  const { limit: name, origin, credential } = call.route;
  const limit: RateLimit | undefined = name && rateLimits[name];
  const isPage = name === "pages" && !call.context.isOwn;
  const isStrangersForm = origin === "own" && !credential && limit?.inAll;
  if (!isPage && !isStrangersForm) return work();
  return turnsOf(isPage ? "pages" : "forms").run(circlesOf(call), call.request.signal, work);
}

/** Creates the route handlers of an API route, by method. Its module exports those of its methods. */
export function createApiHandlers<Who = undefined>(
  route: Route,
  handler: Handler<Who>,
  options: HandlerOptions<Who> = {},
): Record<Method, RouteHandler> {
  const handle = createHandler(route, handler, options);
  return { GET: handle, HEAD: handle, POST: handle, OPTIONS: handle };
}

function requireEnabled({ route }: HandlerRequest): void {
  if (!isEnabled(route)) throw new ApiError("not_found");
}

function requireMethod(call: HandlerRequest): void {
  const { route, context } = call;
  const methods: readonly string[] = route.methods;
  if (!methods.includes(context.method)) throw methodNotAllowed(route);
  call.isRouted = true;
}

function requireVersion1({ headers }: HandlerRequest): void {
  const version = headers.get("api-version");
  if (version === null || /^[ \t]*1[ \t]*$/.test(version)) return;
  throw new ApiError("invalid_request", {
    message: "The API-Version header names a version that is not supported.",
    hint: "Send 'API-Version: 1', or leave the header out.",
  });
}

/** `Allow` (RFC 9110 §9.3.7) and, where CORS allows any origin, the headers of a preflight. */
function answerOptions({
  route: { methods, anyOrigin },
  context,
  headers: sent,
}: HandlerRequest): ResponseParts | undefined {
  if (context.method !== "OPTIONS") return undefined;
  const allow = methods.join(", ");
  const headers = ["allow", allow];
  if (anyOrigin) {
    const names = allowNames(anyOrigin.sends, sent.get("access-control-request-headers"));
    headers.push("access-control-allow-methods", allow, "access-control-allow-headers", names);
    headers.push("access-control-max-age", "7200");
  }
  return { status: 204, body: null, headers };
}

/** Answers a refusal instead of throwing it, and makes it once for each wait: a flood costs a fifth less. */
async function requireWithinQuota(call: HandlerRequest): Promise<ResponseParts | undefined> {
  const { quota } = call.route;
  if (!quota) return undefined;
  const other = call.options.quotaKey?.(call);
  const key = (other && (await other)) ?? rateLimitKey(call.headers);
  const { headers, refused } = await consumeRateLimit(quota, key);
  call.quotaHeaders = headers;
  if (!refused) return undefined;
  const { retryAfterSeconds: wait, message } = refused;
  return processSingleton(`refusal by ${quota} for ${wait} s`, () =>
    errorParts(tooManyRequests(wait, message)),
  );
}

/** Refuses a POST from a page of another site: browsers send `Origin` with each, and no page can forge it. */
function requireOwnOrigin({ route, headers }: HandlerRequest): void {
  const { appUrl, office } = settings();
  const own = route.site === "office" ? office?.url : appUrl;
  if (headers.get("origin") === own) return;
  throw new ApiError("forbidden", {
    message: `Open this form at ${own} instead.`,
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
function probeCookies({ url, headers, route }: HandlerRequest): ResponseParts | undefined {
  if (readCookie(headers, "office-probe") !== undefined) return undefined;
  if (url.searchParams.has("probed")) throw keepsNoCookies;
  const cookies = cookieHeaders([writeCookie("office-probe", "1", probeSeconds)]);
  return { status: 307, body: null, headers: ["location", `${route.path}?probed`, ...cookies] };
}

function recognize(call: HandlerRequest): Promise<void> | undefined {
  const { headers, nowMs, route } = call;
  // On the office's port the peer counts, whatever stands in front of the public one.
  const peer = rateLimitKey(headers);
  if (route.site === "office") call.browser = { id: peer, account: peer };
  const found = route.site === "office" ? undefined : findKnownBrowser(headers, nowMs);
  return found?.then((browser) => {
    call.browser = browser;
  });
}

async function requireWithinOwnLimit(call: HandlerRequest): Promise<void> {
  const { limit, credential } = call.route;
  if (!limit) return;
  await requireWithinLimit(limit, call).catch(async (refused) => {
    // A link that is not valid is refused as that, whatever its sender has spent: to verify it costs no more.
    if (credential === "link") await identify(call);
    throw refused;
  });
}

/** Spends one request of the sender's. Throws a 429, or the error that the limit names. */
export async function requireWithinLimit(
  name: RateLimitName,
  sender: Sender,
  counter: string = name,
): Promise<void> {
  const limit: RateLimit = rateLimits[name];
  const refused = await consumeLimit(counter, limit, sender);
  if (!refused) return;
  const { whose, waitSeconds } = refused;
  if (!limit.refusedAs) throw new LimitError(whose, waitSeconds);
  const { code, ...words } = limit.refusedAs;
  throw new ApiError(code, { ...words, headers: { "retry-after": String(waitSeconds) } });
}

/** Whether a request failed because of the store or of us, and not of another service or of too many at once. */
function isOurs(error: ApiError): boolean {
  const { code, status } = error;
  return code === "internal_error" || (code === "unavailable" && status === 503 && error !== overloaded);
}

function requireBilling(): void {
  if (!settings().billing) throw new ApiError("billing_not_configured");
}

function requireKey({ options }: HandlerRequest): void {
  options.requireKey?.();
}

/** Reads the body, and refuses in a form the byte that PostgreSQL can store in no text. */
async function takeBody(call: HandlerRequest): Promise<void> {
  const { takes, origin } = call.route;
  const body = await readBody(call.request, takes ? bodyLimits[takes] : 0);
  await shortRound();
  call.body = body;
  const isForm = origin === "own" && (takes === "form" || takes === "office");
  if (!isForm || (!body.includes(0) && !body.includes("%00"))) return;
  throw new ApiError("invalid_request", { message: "A field of the form contains a NUL." });
}

async function identify(call: HandlerRequest): Promise<void> {
  call.who = await call.options.identify?.(call);
}

/** Why a request was refused that takes more than a session. */
export const provesNothing = new ApiError("forbidden", {
  message: "Confirm first that it is you: it was more than five minutes ago.",
  hint: "Use a passkey or a new code in this browser, then try again.",
});

function requireProof({ options, who, nowMs }: HandlerRequest): void {
  if (!options.hasProof?.(who, nowMs)) throw provesNothing;
}

/** Logs an unexpected failure, and returns the error that the client gets: fixed words without the cause. */
export function unexpectedError(failure: unknown, { requestId }: RequestContext): ApiError {
  if (isOutage(failure)) {
    const { message } = failure as Error;
    log().warn({ because: message, requestId }, "refused for now, because of an outage");
    return new ApiError("unavailable");
  }
  log().error({ err: failure, requestId }, "unexpected failure");
  return new ApiError("internal_error");
}
