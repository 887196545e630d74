import { readFileSync } from "node:fs";
import { METHODS } from "node:http";
import { store } from "@/lib/db/store";
import type { Call, Site } from "@/lib/http/call";
import { ApiError } from "@/lib/http/errors";
import { redirectTo } from "@/lib/http/form";
import type { RouteHandler, Work } from "@/lib/http/handler";
import { handlePage, type PageOptions, type Show } from "@/lib/http/page";
import { type Answering, errorParts, type ResponseParts } from "@/lib/http/response";
import type { Method, Route } from "@/lib/http/route";
import { decide } from "@/lib/http/router";
import { officeFiles } from "@/lib/office/files";
import { type Place, renderPage } from "@/lib/office/frame";
import {
  addressOf,
  asFile,
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
import { officePages } from "@/lib/office/routes";
import { continueSession, endSession, isRecentlyProved, type OfficeSession } from "@/lib/office/session";
import { askAgain, describeProblem, enrolView, showEnter } from "@/lib/office/sign-in-pages";
import { today } from "@/lib/office/today";
import { inBackground } from "@/lib/runtime/background-loop";

/** The office, at this origin: its site, and what answers every request to it. */
export function createOffice(url: string): { site: Site; answer: Answering } {
  const handlers = listHandlers();
  const site: Site = {
    url,
    routeAt: (path) => handlers.get(path)?.route,
    loggedAs: "office",
    isProxied: false,
    hasPageFor: () => true,
  };
  const nothing = handlePage(nothingHere, inOffice, refuseUnknown);
  const answer: Answering = (call) =>
    inBackground(async () => (await decide(call, showProblem)) ?? (handlers.get(call.path) ?? nothing)(call));
  return { site, answer };
}

const reads = { ...office, methods: ["GET", "HEAD"] } as const;

/** What is not there, whatever the method. */
const nothingHere: Route = { ...office, path: "/*", methods: METHODS as Method[], origin: "any" };

function refuseUnknown(): never {
  throw new ApiError("not_found", { hint: "Compare the address with those in the navigation." });
}

/** What a page shows, to whom, and where in the office. */
type Shown = OfficeView & Place;

const inOffice: PageOptions<Shown, OfficeSession> = {
  identify: continueSession,
  hasProof: isRecentlyProved,
  lay,
  explain: showProblem,
};

async function lay(shown: Shown): Promise<ResponseParts> {
  const body = await renderPage(shown, shown);
  return { status: shown.status ?? 200, body, mediaType: "text/html; charset=utf-8" };
}

/** The handlers by address. The handler of a route without a credential gets no session. */
function listHandlers(): Map<string, RouteHandler> {
  const handlers = new Map<string, RouteHandler>();
  const add = (route: Route, show: Show<Shown, OfficeSession>, explain = inOffice.explain) =>
    handlers.set(route.path, handlePage(route, { ...inOffice, explain }, show));
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
  add({ ...reads, path: enter }, (call) => showEnter(whereTo(call)));
  add({ ...reads, path: enrol }, () => enrolView);
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

/** A refusal: a page for a browser, the ApiError in JSON for a script. */
async function showProblem(error: ApiError, { headers, requestId }: Call): Promise<ResponseParts> {
  if (!headers.get("accept")?.includes("text/html")) return errorParts(error);
  const shown = await lay(describeProblem(error, requestId));
  return { ...shown, headers: Object.entries(error.headers).flat() };
}

function signInFirst(error: ApiError, call: Call): ResponseParts | Promise<ResponseParts> {
  if (error.code !== "signed_out") return showProblem(error, call);
  const { pathname, search } = call.url;
  return redirectTo({ to: addressOf(signInPaths.enter, { to: pathname + search }) });
}

/** An act without a session or a proof asks for the passkey, and keeps what was typed. */
function askFirst(page: OfficePage, act: OfficeAct): PageOptions<Shown, OfficeSession>["explain"] {
  return async (error, call, session) => {
    if (error.code === "signed_out") return askAgain({ why: "signed out", page, act, fields: call.fields });
    if (error.reason !== "no proof" || !session) return showProblem(error, call);
    return orProblem(page, call, session, async () => {
      const preview = await act.preview?.(await toCall(call, session));
      const asked = askAgain({ why: "to prove", page, act, fields: call.fields, preview });
      return { ...asked, operator: session.operator, page };
    });
  };
}

/** What a refused act shows is its page, with what was typed. */
async function orProblem<Done>(
  page: OfficePage,
  call: Call,
  session: OfficeSession,
  act: () => Promise<Done>,
) {
  try {
    return await act();
  } catch (thrown) {
    if (thrown instanceof ApiError) return showPage(page, call, session, thrown);
    throw thrown;
  }
}

/** Shows a page, after an act with what it did or why it was refused. */
async function showPage(
  page: OfficePage,
  request: Call,
  session: OfficeSession,
  problem?: ApiError,
): Promise<Shown> {
  const { operator } = session;
  const call = { ...(await toCall(request, session)), problem };
  const title = (await page.title?.(call)) ?? page.name ?? "";
  const content = await page.show(call);
  const after = request.query.get("done");
  const { done } = page.acts?.find((act) => nameOf(act) === after) ?? {};
  return { title, content, status: problem?.status, operator, page, problem, done };
}

function sendFile({ path, read }: NonNullable<OfficePage["file"]>): Work<OfficeSession> {
  return async (request, session) => {
    const parts = withMark(read(await toCall(request, session)));
    return asFile(path.slice(1), "text/csv; charset=utf-8", parts);
  };
}

/** With the mark, without which Excel takes a file for another encoding than UTF-8. */
async function* withMark(parts: AsyncIterable<string>): AsyncGenerator<string> {
  yield "\ufeff";
  yield* parts;
}

async function carryOut(
  act: OfficeAct,
  page: OfficePage,
  request: Call,
  session: OfficeSession,
): Promise<Shown | ResponseParts> {
  const call = await toCall(request, session);
  return orProblem(page, request, session, async () => {
    const shown = await act.run(call);
    if (shown) return "content" in shown ? { ...shown, operator: session.operator, page } : shown;
    return redirectTo({ to: addressOf(page.path, { email: call.input("email"), done: nameOf(act) }) });
  });
}

const nameOf = ({ path }: OfficeAct) => path.slice(path.lastIndexOf("/") + 1);

async function toCall({ nowMs, fields, query }: Call, { operator }: OfficeSession): Promise<OfficeCall> {
  // Boxes of one name are ticked one a line.
  const typed = (name: string) => (fields.has(name) ? fields.getAll(name).join("\n").trim() : undefined);
  const input = (name: string) => typed(name) ?? query.get(name)?.trim();
  return { db: await store(), by: `operator ${operator.name}`, nowMs, input, typed };
}

function whereTo({ query }: Call): string {
  const to = query.get("to") ?? "";
  const isKnown = officePages.some(({ path }) => to.split("?", 1)[0] === path);
  return isKnown ? to : today.path;
}
