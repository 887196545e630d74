import { readFileSync } from "node:fs";
import { METHODS } from "node:http";
import { store } from "@/lib/db/store";
import { ApiError } from "@/lib/http/errors";
import { redirectTo } from "@/lib/http/form";
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
import { officeFiles } from "@/lib/office/files";
import { type Place, renderPage } from "@/lib/office/frame";
import {
  addressOf,
  byOperators,
  type OfficeAct,
  type OfficeCall,
  type OfficePage,
  type OfficeView,
  office,
  posts,
  signInPaths,
} from "@/lib/office/page";
import { acceptPasskey, askForPasskey, finishPasskey, startPasskey } from "@/lib/office/passkey";
import { isRecentlyProved } from "@/lib/office/proof";
import { officePages } from "@/lib/office/routes";
import { endSession, findSession, type OfficeSession } from "@/lib/office/session";
import { askAgain, describeProblem, enrolView, showEnter } from "@/lib/office/sign-in-pages";
import { today } from "@/lib/office/today";

/** Creates the handler of the office: each address has the checks of `createHandler` that its entry asks for. */
export function createOfficeHandler(): (request: Request, path: string) => Promise<Response> {
  const handlers = listHandlers();
  const refuse = () => {
    throw new ApiError("not_found", { hint: "Compare the address with those in the navigation." });
  };
  const nothing = createHandler(nothingHere, refuse, { renderError: showProblem });
  return (request, path) => (handlers.get(path) ?? nothing)(request);
}

const reads = { ...office, methods: ["GET", "HEAD"] } as const;

/** What is not there, whatever the method. */
const nothingHere: Route = { ...office, path: "/*", methods: METHODS as Method[], origin: "any" };

/** The handlers by address. That of a route without a credential gets no session. */
function listHandlers(): Map<string, RouteHandler> {
  const handlers = new Map<string, RouteHandler>();
  const add = (route: Route, handler: Handler<OfficeSession>, renderError: RenderError = showProblem) =>
    handlers.set(
      route.path,
      createHandler(route, handler, { identify: findSession, hasProof: isRecentlyProved, renderError }),
    );
  for (const page of officePages) {
    const route = { ...reads, ...byOperators, path: page.path };
    add(route, (call, session) => showPage(page, call, session), signInFirst);
    if (page.file) add({ ...route, path: page.file.path }, sendFile(page.file), signInFirst);
    for (const act of page.acts ?? [])
      add(act, (call, session) => carryOut(act, page, call, session), askFirst(page, act));
  }
  for (const { path, file, type: mediaType } of Object.values(officeFiles)) {
    const body = readFileSync(file);
    const caching = "private, max-age=300"; // 5 minutes: a new build is seen soon
    add({ site: "office", methods: reads.methods, path, caching }, () => ({ status: 200, body, mediaType }));
  }
  const { enter, enrol, proof, leave } = signInPaths;
  add({ ...reads, path: "/" }, () => redirectTo({ to: today.path }));
  add({ ...reads, path: enter }, (call) => toPage(showEnter(whereTo(call))));
  add({ ...reads, path: enrol }, () => toPage(enrolView));
  for (const [path, ask, accept, more] of [
    [enrol, startPasskey, finishPasskey, {}],
    [enter, askForPasskey, acceptPasskey, {}],
    [proof, askForPasskey, acceptPasskey, byOperators],
  ] as const) {
    add({ ...posts, ...more, path: `${path}/options`, takes: "form" }, ask);
    add({ ...posts, ...more, path: `${path}/passkey`, takes: "passkey" }, accept);
  }
  add({ ...posts, ...byOperators, path: leave, takes: "form" }, async (call, session) =>
    redirectTo({ to: signInPaths.enter, cookies: [await endSession(session, call.nowMs)] }),
  );
  return handlers;
}

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
  return redirectTo({ to: addressOf(signInPaths.enter, { to: pathname + search }) });
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

/** Shows a page, after an act with what it did or why it was refused. */
async function showPage(
  page: OfficePage,
  request: HandlerRequest,
  session: OfficeSession,
  problem?: ApiError,
) {
  const { operator } = session;
  const call = await toCall(request, session);
  const title = page.title?.(call) ?? page.name ?? "";
  const content = await page.show(call);
  const after = request.url.searchParams.get("done");
  const { done } = page.acts?.find((act) => nameOf(act) === after) ?? {};
  return toPage({ title, content, status: problem?.status }, { operator, page, problem, done });
}

function sendFile({ path, mediaType, read }: NonNullable<OfficePage["file"]>): Handler<OfficeSession> {
  const headers = ["content-disposition", `attachment; filename="${path.slice(1)}"`];
  return async (request, session) => ({
    status: 200,
    body: await read(await toCall(request, session)),
    mediaType,
    headers,
  });
}

async function carryOut(act: OfficeAct, page: OfficePage, request: HandlerRequest, session: OfficeSession) {
  const call = await toCall(request, session);
  try {
    const shown = await act.run(call);
    if (shown) return toPage(shown, { operator: session.operator, page });
    return redirectTo({ to: addressOf(page.path, { email: call.input("email"), done: nameOf(act) }) });
  } catch (thrown) {
    if (thrown instanceof ApiError) return showPage(page, request, session, thrown);
    throw thrown;
  }
}

const nameOf = ({ path }: OfficeAct) => path.slice(path.lastIndexOf("/") + 1);

async function toCall(
  { nowMs, body, url }: HandlerRequest,
  { operator }: OfficeSession,
): Promise<OfficeCall> {
  const form = new URLSearchParams(body.toString());
  // Boxes of one name are ticked one a line.
  const typed = (name: string) => (form.has(name) ? form.getAll(name).join("\n").trim() : undefined);
  const input = (name: string) => typed(name) ?? url.searchParams.get(name)?.trim();
  return { db: await store(), by: `operator ${operator.name}`, nowMs, input, typed };
}

function whereTo({ url }: HandlerRequest): string {
  const to = url.searchParams.get("to") ?? "";
  const isKnown = officePages.some(({ path }) => to.split("?", 1)[0] === path);
  return isKnown ? to : today.path;
}

async function toPage(shown: OfficeView, place: Place = {}): Promise<ResponseParts> {
  const body = await renderPage(shown, place);
  return { status: shown.status ?? 200, body, mediaType: "text/html; charset=utf-8" };
}
