import { settings } from "@/lib/config/settings";
import { keepAskedPage } from "@/lib/http/asked-page";
import type { Call } from "@/lib/http/call";
import type { CheckOptions } from "@/lib/http/checks/check";
import { cookieHeaders } from "@/lib/http/cookies";
import { type ErrorCode, LimitError } from "@/lib/http/errors";
import { escapeHtml } from "@/lib/http/escape-html";
import { type HandlerOptions, handleEndpoint, type RouteHandler } from "@/lib/http/handler";
import { pages } from "@/lib/http/register/pages";
import { errorParts, inPlainText, type ResponseParts } from "@/lib/http/response";
import type { Route } from "@/lib/http/route";
import { rememberTypedEmail } from "@/lib/http/typed-email";

/** Where the browser is redirected after a form, and the cookies it gets. */
export type Redirect = { to: string; cookies?: string[] };

/** Does the work of a form, and says where its browser goes, `away` to another service, or answers it. */
export type FormWork<Who = undefined> = (
  call: Call,
  who: Who,
) => Promise<Redirect | { away: string } | ResponseParts>;

type FormOptions<Who> = Pick<CheckOptions<Who>, "identify" | "hasProof"> & {
  /** The codes of refusals that the page explains as well; programs then get every refusal as an ApiError. */
  explained?: readonly ErrorCode[];
  /** The address of the page with the form, if its route does not say it: it explains the `problem` in its query. */
  page?: (call: Call) => string;
  /** Renders a refusal where no page of the public site explains it. */
  explain?: HandlerOptions<Who>["explain"];
};

/**
 * Creates the POST handler of a form. It redirects the browser with 303, so that going back posts nothing again. After a
 * failure it redirects to the form's page, which explains the problem, with the request's id if the failure is on our side,
 * and after the end of a session to sign-in. A typed email is kept for the next page.
 */
export function handleForm<Who = undefined>(
  route: Route,
  { explained, page = () => route.page ?? pages.home.path, ...options }: FormOptions<Who>,
  work: FormWork<Who>,
): RouteHandler {
  const send = (call: Call, { to, cookies = [] }: Redirect) =>
    redirectTo({ to, cookies: [...rememberTypedEmail(call.field("email")), ...cookies] });
  const back = (call: Call, problem: string) => send(call, { to: withProblem(page(call), problem) });
  const explain: HandlerOptions<Who>["explain"] = (error, call) => {
    const { status, code, reason } = error;
    if (reason === "no cookies") return back(call, "cookies");
    if (reason === "no proof") return back(call, "confirm#ways");
    if (explained && !call.headers.get("accept")?.includes("text/html")) return errorParts(error);
    if (explained?.includes(code)) return back(call, code);
    const whose = error instanceof LimitError ? error.whose : "network";
    if (status === 429) return back(call, `too-many&of=${whose}&wait=${error.headers["retry-after"]}`);
    const ours = reason === "unknown outcome" ? "unknown" : "unavailable";
    if (status >= 500) return back(call, withReference(ours, call.requestId));
    if (status === 409) return back(call, "account");
    if (status === 401) {
      const cookies = route.page ? [keepAskedPage(route.page)] : [];
      return send(call, { to: withProblem(pages.signIn.path, "ended"), cookies });
    }
    return inPlainText(error);
  };
  return handleEndpoint<Who>(route, { explain, ...options }, async (call, who) => {
    const done = await work(call, who);
    if ("status" in done) return done;
    return "away" in done ? redirectAway(done.away) : send(call, done);
  });
}

/**
 * Reads a field for the way back to its form's page: from the form or, where that was refused unread, from the query of the
 * page, if it is that page that the browser comes from.
 */
export function fieldForPage({ body, field, headers }: Call, page: string, name: string): string {
  if (body.length > 0) return field(name);
  const [from, query = ""] = headers.get("referer")?.split("?", 2) ?? [];
  const isFromPage = from === settings().appUrl + page;
  return (isFromPage && new URLSearchParams(query).get(name)?.trim()) || "";
}

/** The address of a page that explains a problem. */
export function withProblem(page: string, problem: string): string {
  return `${page}${page.includes("?") ? "&" : "?"}problem=${problem}`;
}

/** Adds the id of the request that failed to what names a problem in an address. */
export const withReference = (problem: string, requestId: string) =>
  `${problem}&reference=${encodeURIComponent(requestId)}`;

/**
 * A page in between, because browsers hold a redirect after a form to the CSP `form-action` of the form's page, and the
 * address is not ours: Stripe serves its pages from hosts that its customers choose.
 */
function redirectAway(url: string): ResponseParts {
  const [href, host] = [escapeHtml(url), escapeHtml(new URL(url).host)];
  return {
    status: 200,
    mediaType: "text/html; charset=utf-8",
    body: `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"><meta http-equiv="refresh" content="0; url=${href}"><title>One moment</title><h1>One moment</h1><p><a href="${href}">Continue to ${host}</a></p></html>`,
  };
}

/** A redirect to a page (303 See Other, RFC 9110 §15.4.4). */
export function redirectTo({ to, cookies = [] }: Redirect): ResponseParts {
  return { status: 303, body: null, headers: ["location", to, ...cookieHeaders(cookies)] };
}
