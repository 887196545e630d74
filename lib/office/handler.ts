import { officeRateLimit } from "@/lib/config/limits";
import { type Db, store } from "@/lib/db/store";
import { cookieHeaders } from "@/lib/http/cookies";
import { ApiError, tooManyRequests } from "@/lib/http/errors";
import { createHandler, type Handler, type HandlerRequest } from "@/lib/http/handler";
import { permissions } from "@/lib/http/page-headers";
import { createRequestContext, type RequestContext } from "@/lib/http/request-context";
import { errorParts, type ResponseParts, toResponse } from "@/lib/http/response";
import type { Route } from "@/lib/http/route";
import { ceremonyAt, doors } from "@/lib/office/door-paths";
import { askAgain, describeProblem, showEnrol, showEnter } from "@/lib/office/doors";
import { type Place, renderPage } from "@/lib/office/frame";
import { officeParty } from "@/lib/office/operators";
import { addressOf, type OfficeAct, type OfficeCall, type OfficePage, type Shown } from "@/lib/office/page";
import { askForPasskey, finishPasskey, prove, signInWithPasskey, startPasskey } from "@/lib/office/passkey";
import { officePages } from "@/lib/office/routes";
import { endSession, findSession, isRecentlyProved, type OfficeSession } from "@/lib/office/session";
import { today } from "@/lib/office/today";
import { LocalCounter } from "@/lib/rate-limit/local-counter";
import { log } from "@/lib/runtime/log";

/**
 * Creates the handler of the office. Its checks, in this order: the rate limit of the client address (429), address (404),
 * method (405), host (421), origin (403) and size (413) of a form, the session (303 or 401), a recent passkey for acts that
 * need one (403). A refused act shows its page again with what was typed.
 */
export function createOfficeHandler(): (request: Request, path: string, peer: string) => Promise<Response> {
  const { requests, windowSeconds } = officeRateLimit;
  const counter = new LocalCounter(requests, windowSeconds * 1000);
  const routes = listRoutes();
  return async (request, path, peer) => {
    const { allowed, retryAfterSeconds } = counter.consume(peer, performance.now());
    const route = routes.get(path);
    if (allowed && route?.methods.includes(request.method)) return route.handle(request);
    const context = createRequestContext(request.method, path, request.headers);
    if (!allowed) return finalize(undefined, context, errorParts(tooManyRequests({ retryAfterSeconds })));
    const error = route
      ? new ApiError("method_not_allowed", { headers: { allow: route.methods.join(", ") } })
      : new ApiError("not_found", { hint: "Compare the address with those in the navigation." });
    return finalize(undefined, context, toProblem(error, context));
  };
}

type OfficeRoute = { methods: readonly string[]; handle: (request: Request) => Promise<Response> };

function listRoutes(): Map<string, OfficeRoute> {
  const routes = new Map<string, OfficeRoute>([["/", { methods: ["GET", "HEAD"], handle: goToToday }]]);
  const add = (route: Route, handler: Handler) =>
    routes.set(route.path, { methods: route.methods, handle: createHandler(route, handler, checks) });
  const get = (path: Route["path"], handler: Handler) => add({ path, methods: ["GET", "HEAD"] }, handler);
  const post = (path: Route["path"], takes: "office" | "form" | "passkey", handler: Handler) =>
    add({ path, methods: ["POST"], takes }, handler);
  const ceremony = (door: Route["path"], start: Handler, finish: Handler) => {
    const { options, done } = ceremonyAt(door);
    post(options, "form", start);
    post(done, "passkey", finish);
  };
  for (const page of officePages) {
    get(page.path, pageHandler(page));
    for (const act of page.acts ?? []) post(act.path, "office", actHandler(page, act));
  }
  get(doors.enter, (call) => toPage(showEnter(whereTo(call))));
  get(doors.enrol, () => toPage(showEnrol()));
  ceremony(doors.enrol, withStore(startPasskey), withStore(finishPasskey));
  ceremony(doors.enter, (call) => askForPasskey(call), withStore(signInWithPasskey));
  ceremony(doors.proof, askForProof, inSession(prove));
  post(doors.leave, "form", leave);
  return routes;
}

/** The checks and the rendering of every address of the office. */
const checks: Parameters<typeof createHandler>[2] = {
  checkAddressee: requireOwnHost,
  // Its check compares with the public address; ours with the office's.
  acceptsAnyOrigin: true,
  checkPost: requireOwnOrigin,
  renderError(error, { headers, context }) {
    if (!headers.get("accept")?.includes("text/html")) return errorParts(error);
    return toProblem(error, context);
  },
  finalize,
};

/** Refuses other names, so that a page that points its own name at this address gets nothing (DNS rebinding). */
function requireOwnHost(headers: Headers): void {
  const { origin } = officeParty();
  if (headers.get("host") === new URL(origin).host) return;
  throw new ApiError("forbidden", {
    status: 421,
    message: `The office is at ${origin}.`,
    hint: "Open it there.",
  });
}

function requireOwnOrigin(headers: Headers): void {
  const { origin } = officeParty();
  if (headers.get("origin") === origin) return;
  throw new ApiError("forbidden", {
    message: `Open this form at ${origin} instead.`,
    hint: "Forms are only accepted from the office's own pages.",
  });
}

/** Uses the store. Any failure is logged and becomes a 503; it may have come after the work was done. */
function withStore(work: (db: Db, call: HandlerRequest) => Promise<ResponseParts>): Handler {
  return async (call) => {
    try {
      return await work(await store(), call);
    } catch (failure) {
      if (failure instanceof ApiError) throw failure;
      log().error({ err: failure }, "the office could not use the store");
      throw new ApiError("unavailable", {
        message: "The store did not answer.",
        hint: "Try again in a moment. If you have sent a form, look first whether it was carried out.",
      });
    }
  };
}

function inSession(
  work: (db: Db, call: HandlerRequest, session: OfficeSession) => Promise<ResponseParts>,
): Handler {
  return withStore(async (db, call) => {
    const session = await findSession(db, call);
    if (session) return work(db, call, session);
    throw new ApiError("signed_out", { message: "Your session has ended.", hint: "Sign in again." });
  });
}

const askForProof = inSession(async (_, call, session) => askForPasskey(call, session));

const leave = inSession(async (db, { nowMs }, session) =>
  redirect(doors.enter, [await endSession(db, session, nowMs)]),
);

function pageHandler(page: OfficePage): Handler {
  return withStore(async (db, call) => {
    const session = await findSession(db, call);
    const { pathname, search } = call.url;
    if (!session) return redirect(addressOf(doors.enter, { to: pathname + search }));
    const shown = await page.show(toCall(db, session, call));
    return toPage(shown, { operator: session.operator, page });
  });
}

function actHandler(page: OfficePage, act: OfficeAct): Handler {
  return withStore(async (db, call) => {
    const fields = new URLSearchParams(call.body.toString());
    const session = await findSession(db, call);
    if (!session) return toPage(askAgain("signed out", page, act, fields));
    const place = { operator: session.operator, page };
    if (act.needsProof && !isRecentlyProved(session, call.nowMs)) {
      return toPage(askAgain("to prove", page, act, fields), place);
    }
    const officeCall = toCall(db, session, call);
    try {
      const done = await act.run(officeCall);
      return typeof done === "string" ? redirect(done) : toPage(done, place);
    } catch (thrown) {
      if (!(thrown instanceof ApiError)) throw thrown;
      const shown = await page.show({ ...officeCall, problem: thrown });
      return toPage({ ...shown, status: thrown.status }, place);
    }
  });
}

function toCall(db: Db, { operator }: OfficeSession, { nowMs, body, url }: HandlerRequest): OfficeCall {
  const form = new URLSearchParams(body.toString());
  // Boxes of one name are ticked one a line.
  const typed = (name: string) => (form.has(name) ? form.getAll(name).join("\n").trim() : undefined);
  const input = (name: string) => typed(name) ?? url.searchParams.get(name)?.trim();
  return { db, operator, by: `operator ${operator.name}`, nowMs, input, typed };
}

/** Where to go after sign-in: only a page of the office. */
function whereTo({ url }: HandlerRequest): string {
  const to = url.searchParams.get("to") ?? "";
  const isKnown = officePages.some(({ path }) => to.split("?", 1)[0] === path);
  return isKnown ? to : today.path;
}

async function goToToday(): Promise<Response> {
  return toResponse("GET", redirect(today.path), headersOfOffice());
}

function redirect(location: string, cookies: string[] = []): ResponseParts {
  return { status: 303, body: null, headers: ["location", location, ...cookieHeaders(cookies)] };
}

function toPage(shown: Shown, place: Place = {}): ResponseParts {
  const body = renderPage(shown, place);
  return { status: shown.status ?? 200, body, mediaType: "text/html; charset=utf-8" };
}

function toProblem(error: ApiError, { requestId }: RequestContext): ResponseParts {
  const headers = Object.entries(error.headers).flat();
  return { ...toPage(describeProblem(error, requestId)), headers };
}

function finalize(_: Route | undefined, context: RequestContext, parts: ResponseParts): Response {
  return toResponse(context.method, parts, [...headersOfOffice(), "x-request-id", context.requestId]);
}

const policy = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  "img-src 'self'",
  "font-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

/** The headers of every response of the office. */
export function headersOfOffice(): string[] {
  const hsts = officeParty().origin.startsWith("https:");
  return Object.entries({
    "cache-control": "no-store",
    "content-security-policy": policy,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": permissions,
    // Forms need `Origin`, and `no-referrer` makes it `null`.
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
    ...(hsts && { "strict-transport-security": "max-age=31536000" }),
  }).flat();
}
