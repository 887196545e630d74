import { METHODS } from "node:http";
import { type Db, store } from "@/lib/db/store";
import { cookieHeaders } from "@/lib/http/cookies";
import { ApiError } from "@/lib/http/errors";
import {
  createHandler,
  type Handler,
  type HandlerOptions,
  type HandlerRequest,
  provesNothing,
  type RouteHandler,
} from "@/lib/http/handler";
import { errorParts, type ResponseParts } from "@/lib/http/response";
import type { Method, Route } from "@/lib/http/route";
import { type Place, renderPage } from "@/lib/office/frame";
import {
  addressOf,
  type OfficeAct,
  type OfficeCall,
  type OfficePage,
  type OfficeView,
} from "@/lib/office/page";
import { askForPasskey, finishPasskey, prove, signInWithPasskey, startPasskey } from "@/lib/office/passkey";
import { officePages } from "@/lib/office/routes";
import { endSession, findSession, isRecentlyProved, type OfficeSession } from "@/lib/office/session";
import { askAgain, describeProblem, showEnrol, showEnter } from "@/lib/office/sign-in-pages";
import { ceremonyAt, signInPaths } from "@/lib/office/sign-in-paths";
import { today } from "@/lib/office/today";
import { log } from "@/lib/runtime/log";

/** Creates the handler of the office: each address has the checks of `createHandler` that its entry asks for. */
export function createOfficeHandler(): (request: Request, path: string) => Promise<Response> {
  const handlers = listHandlers();
  const nothing = createHandler(nothingHere, refuseUnknown, { renderError: showProblem });
  return (request, path) => (handlers.get(path) ?? nothing)(request);
}

const office = { site: "office", host: "office", limit: "office" } as const;
const reads = { ...office, methods: ["GET", "HEAD"] } as const;
const posts = { ...office, methods: ["POST"], origin: "own" } as const;
const byOperators = { credential: "operator" } as const;

/** What is not there, whatever the method. */
export const nothingHere: Route = { ...office, path: "/*", methods: METHODS as Method[], origin: "any" };

function refuseUnknown(): never {
  throw new ApiError("not_found", { hint: "Compare the address with those in the navigation." });
}

function listHandlers(): Map<string, RouteHandler> {
  const handlers = new Map<string, RouteHandler>();
  const add = (route: Route, handler: Handler, renderError: RenderError = showProblem) =>
    handlers.set(route.path, createHandler(route, handler, { renderError }));
  const addInSession = (
    route: Route,
    handler: Handler<OfficeSession>,
    renderError: RenderError = showProblem,
  ) => handlers.set(route.path, createHandler(route, handler, { ...byOperator, renderError }));
  for (const page of officePages) {
    addInSession({ ...reads, ...byOperators, path: page.path }, pageHandler(page), signInFirst);
    for (const { act, route } of actsOf(page))
      addInSession(route, actHandler(page, act), askFirst(page, act));
  }
  const { enter, enrol, proof, leave } = signInPaths;
  add({ ...reads, path: "/" }, () => redirect(today.path));
  add({ ...reads, path: enter }, (call) => toPage(showEnter(whereTo(call))));
  add({ ...reads, path: enrol }, () => toPage(showEnrol()));
  const at = (path: Route["path"], takes: "form" | "passkey") => ({ ...posts, path, takes });
  add(at(ceremonyAt(enrol).options, "form"), withStore(startPasskey));
  add(at(ceremonyAt(enrol).done, "passkey"), withStore(finishPasskey));
  add(at(ceremonyAt(enter).options, "form"), (call) => askForPasskey(call));
  add(at(ceremonyAt(enter).done, "passkey"), withStore(signInWithPasskey));
  addInSession({ ...at(ceremonyAt(proof).options, "form"), ...byOperators }, askForPasskey);
  addInSession({ ...at(ceremonyAt(proof).done, "passkey"), ...byOperators }, withStore(prove));
  addInSession({ ...at(leave, "form"), ...byOperators }, withStore(endAndLeave));
  return handlers;
}

/** The forms of a page: each has the proof that its act needs. */
export function actsOf({ acts = [] }: OfficePage): { act: OfficeAct; route: Route }[] {
  return acts.map((act) => {
    const { path, needsProof } = act;
    return {
      act,
      route: { ...posts, ...byOperators, path, takes: "office", ...(needsProof && { needsProof }) },
    };
  });
}

const byOperator: HandlerOptions<OfficeSession> = {
  identify: withStore(async (db, call) => {
    const session = await findSession(db, call);
    if (session) return session;
    throw new ApiError("signed_out", { message: "Your session has ended.", hint: "Sign in again." });
  }),
  hasProof: isRecentlyProved,
};

type RenderError = NonNullable<HandlerOptions<OfficeSession>["renderError"]>;

/** A refusal: a page for a browser, the ApiError in JSON for a script. */
async function showProblem(error: ApiError, { headers, context }: HandlerRequest): Promise<ResponseParts> {
  if (!headers.get("accept")?.includes("text/html")) return errorParts(error);
  const shown = await toPage(describeProblem(error, context.requestId));
  return { ...shown, headers: Object.entries(error.headers).flat() };
}

function signInFirst(error: ApiError, call: HandlerRequest): ResponseParts | Promise<ResponseParts> {
  if (error.code !== "signed_out") return showProblem(error, call);
  const { pathname, search } = call.url;
  return redirect(addressOf(signInPaths.enter, { to: pathname + search }));
}

/** An act without a session or a proof asks for the passkey, and keeps what was typed. */
function askFirst(page: OfficePage, act: OfficeAct): RenderError {
  return (error, call) => {
    const fields = new URLSearchParams(call.body.toString());
    if (error.code === "signed_out") return toPage(askAgain("signed out", page, act, fields));
    if (error !== provesNothing) return showProblem(error, call);
    const { operator } = call.who as OfficeSession;
    return toPage(askAgain("to prove", page, act, fields), { operator, page });
  };
}

/** Uses the store. Any failure is logged and becomes a 503; it may have come after the work was done. */
function withStore<Rest extends unknown[], Result>(
  work: (db: Db, call: HandlerRequest, ...rest: Rest) => Promise<Result>,
): (call: HandlerRequest, ...rest: Rest) => Promise<Result> {
  return async (call, ...rest) => {
    try {
      return await work(await store(), call, ...rest);
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

async function endAndLeave(db: Db, { nowMs }: HandlerRequest, session: OfficeSession) {
  return redirect(signInPaths.enter, [await endSession(db, session, nowMs)]);
}

function pageHandler(page: OfficePage): Handler<OfficeSession> {
  return withStore(async (db, call, session: OfficeSession) =>
    toPage(await page.show(toCall(db, session, call)), { operator: session.operator, page }),
  );
}

function actHandler(page: OfficePage, act: OfficeAct): Handler<OfficeSession> {
  return withStore(async (db, call, session: OfficeSession) => {
    const place = { operator: session.operator, page };
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

function whereTo({ url }: HandlerRequest): string {
  const to = url.searchParams.get("to") ?? "";
  const isKnown = officePages.some(({ path }) => to.split("?", 1)[0] === path);
  return isKnown ? to : today.path;
}

function redirect(location: string, cookies: string[] = []): ResponseParts {
  return { status: 303, body: null, headers: ["location", location, ...cookieHeaders(cookies)] };
}

async function toPage(shown: OfficeView, place: Place = {}): Promise<ResponseParts> {
  const body = await renderPage(shown, place);
  return { status: shown.status ?? 200, body, mediaType: "text/html; charset=utf-8" };
}
