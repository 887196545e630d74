import { type RateLimit, rateLimits } from "@/lib/config/limits";
import { isOutage, isUnknownOutcome } from "@/lib/db/store-outage";
import type { Call } from "@/lib/http/call";
import { requireBilling } from "@/lib/http/checks/billing";
import { takeBody } from "@/lib/http/checks/body";
import type { Check, CheckOptions } from "@/lib/http/checks/check";
import { identify, requireKey, requireProof } from "@/lib/http/checks/credential";
import { requireHostOfOffice, requireOurHost } from "@/lib/http/checks/host";
import { probeCookies } from "@/lib/http/checks/kept-cookies";
import { recognize, refundOurs, requireWithinOwnLimit, requireWithinQuota } from "@/lib/http/checks/limits";
import { requireOwnOrigin } from "@/lib/http/checks/origin";
import { answerOptions } from "@/lib/http/checks/preflight";
import { requireVersion1 } from "@/lib/http/checks/version";
import { ApiError } from "@/lib/http/errors";
import { type PlatformHandler, toPlatform } from "@/lib/http/platform";
import { type Answering, errorParts, finalizeResponse, type ResponseParts } from "@/lib/http/response";
import { requireBeforeSunset } from "@/lib/http/retirement";
import type { Method, Route } from "@/lib/http/route";
import { turnsOf } from "@/lib/http/turns";
import { log } from "@/lib/runtime/log";

/**
 * The checks of every request that the router has led to a handler, in this order: of operations, the MCP server, pages,
 * forms, the authorization server, webhooks, the operators' office and the backend API. A route's entry in its register
 * says which of them it asks for.
 */
const checks: readonly Check[] = [
  { isAsked: ({ isVersioned }) => isVersioned, run: requireVersion1 }, // 400
  { isAsked: ({ host }) => host === "ours", run: requireOurHost }, // 403
  { isAsked: ({ host }) => host === "office", run: requireHostOfOffice }, // 421
  { isAsked: ({ methods }) => methods.some((method) => method === "OPTIONS"), run: answerOptions }, // 204
  { isAsked: ({ retirement }) => retirement, run: requireBeforeSunset }, // 410
  { isAsked: ({ quota }) => quota, run: requireWithinQuota }, // 429
  { isAsked: ({ origin }) => origin === "own", ofPost: true, run: requireOwnOrigin }, // 403
  { isAsked: ({ needsCookies }) => needsCookies, ofPost: true, run: probeCookies }, // 307, 400
  { isAsked: ({ limit }) => limit, run: recognize },
  { isAsked: ({ limit }) => limit, run: requireWithinOwnLimit }, // 429
  { isAsked: ({ needsBilling }) => needsBilling, run: () => void requireBilling() }, // 503
  { isAsked: ({ credential }) => credential === "signature", ofPost: true, run: requireKey }, // 400, 503
  { isAsked: ({ methods }) => methods.some((method) => method === "POST"), ofPost: true, run: takeBody }, // 413, 400
  { isAsked: ({ credential }) => credential, run: identify }, // 401, 403, 409, 503
  { isAsked: ({ needsProof }) => needsProof, run: requireProof }, // 403
];

/** Answers the requests of its route, and has what the module of the route exports for those of its methods. */
export interface RouteHandler extends Answering, Record<Method, PlatformHandler<RouteHandler>> {
  route: Route;
}

/** Does the work of one route, for who sent the request. Throws an {@link ApiError} to refuse. */
export type Work<Who = undefined> = (call: Call, who: Who) => ResponseParts | Promise<ResponseParts>;

export type HandlerOptions<Who> = CheckOptions<Who> & {
  /** Renders a refusal or an unexpected failure; `who` is whom the checks have found before it. */
  explain: (error: ApiError, call: Call, who: Who | undefined) => ResponseParts | Promise<ResponseParts>;
};

/** Creates the handler of an operation, and of what scripts of our pages fetch: it refuses by an ApiError in JSON. */
export function handleOperation<Who = undefined>(
  route: Route,
  options: CheckOptions<Who>,
  work: Work<Who>,
): RouteHandler {
  return handleEndpoint(route, { ...options, explain: errorParts }, work);
}

/**
 * Creates the handler of an endpoint that refuses in a form of its own. It walks the {@link checks} that the route asks for,
 * does the work, and finishes the answer. An error that is thrown anywhere becomes an answer here and nowhere else.
 */
export function handleEndpoint<Who = undefined>(
  route: Route,
  options: HandlerOptions<Who>,
  work: Work<Who>,
): RouteHandler {
  if (route.credential && !options.identify) throw new Error(`${route.path}: no one reads its credential`);
  if (route.needsProof && !options.hasProof) throw new Error(`${route.path}: no one asks for the proof`);
  const asked = checks.filter(({ isAsked }) => isAsked(route));
  const walk = (call: Call, from: number): ResponseParts | Promise<ResponseParts> => {
    for (let at = from; at < asked.length; at++) {
      const { ofPost, run } = asked[at] as Check;
      if (ofPost && call.method !== "POST") continue;
      const answer = run(call, route, options as CheckOptions<unknown>);
      if (answer instanceof Promise) return answer.then((parts) => parts ?? walk(call, at + 1));
      if (answer) return answer;
    }
    return inTurn(call, route, () => work(call, call.who as Who));
  };
  const explain = (thrown: unknown, call: Call) => {
    const error = thrown instanceof ApiError ? thrown : unexpectedError(thrown, call);
    // What failed because of us is not the sender's to pay for.
    refundOurs(call, route, error);
    return options.explain(error, call, call.who as Who | undefined);
  };
  const answer: Answering = (call) => {
    const finish = (parts: ResponseParts) => finalizeResponse(call, route, parts);
    let parts: ResponseParts | Promise<ResponseParts>;
    try {
      parts = walk(call, 0);
      if (parts instanceof Promise) parts = parts.catch((thrown) => explain(thrown, call));
    } catch (thrown) {
      parts = explain(thrown, call);
    }
    return parts instanceof Promise ? parts.then(finish) : finish(parts);
  };
  const handler = Object.assign(answer, { route });
  return Object.assign(handler, toPlatform(handler)) as RouteHandler;
}

/**
 * Renders pages, and does the work of forms that strangers can send, in turns, so that no one waits behind a flood of them
 * for the processor, a connection or a lock of the store. Apps' requests may wait for another service, so they have none.
 */
function inTurn<T>(call: Call, route: Route, work: () => T | Promise<T>): T | Promise<T> {
  const { limit: name, origin, credential } = route;
  const limit: RateLimit | undefined = name && rateLimits[name];
  const isPage = name === "pages" && !call.isOwn;
  const isStrangersForm = origin === "own" && !credential && limit?.inAll;
  if (!isPage && !isStrangersForm) return work();
  return turnsOf(isPage ? "pages" : "forms").run(call.circles, call.signal, work);
}

/** Logs an unexpected failure, and returns the error that the client gets: fixed words without the cause. */
export function unexpectedError(failure: unknown, { requestId }: Pick<Call, "requestId">): ApiError {
  if (isOutage(failure)) {
    const { message } = failure as Error;
    log().warn({ because: message, requestId }, "refused for now, because of an outage");
    return new ApiError("unavailable", isUnknownOutcome(failure) ? { reason: "unknown outcome" } : {});
  }
  log().error({ err: failure, requestId }, "unexpected failure");
  return new ApiError("internal_error");
}
