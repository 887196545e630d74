import { type CookieName, cookieHeaders, readCookie, writeCookie } from "@/lib/http/cookies";
import type { PublicErrorCode } from "@/lib/http/errors";
import { escapeHtml } from "@/lib/http/escape-html";
import { createHandler, type HandlerRequest } from "@/lib/http/handler";
import { readKnownBrowser } from "@/lib/http/known-browser";
import { pages } from "@/lib/http/pages";
import type { RequestContext } from "@/lib/http/request-context";
import { errorParts, type ResponseParts } from "@/lib/http/response";
import type { Route } from "@/lib/http/route";
import { rememberTypedEmail } from "@/lib/http/typed-email";
import { knownClientKey } from "@/lib/rate-limit/client-address";
import type { RateLimitDecision } from "@/lib/rate-limit/local-counter";
import { counter } from "@/lib/rate-limit/rate-limit";

/** Where the browser is redirected after a form, and the cookies it gets. */
export type Redirect = { to: string; cookies?: string[] };

/** The address at another service to which the browser is led after a form. */
export type LeadAway = { away: string };

/** The input of a form's handler. Fields are trimmed. */
export type FormSubmission = {
  field: (name: string) => string;
  cookie: (name: CookieName) => string | undefined;
  headers: Headers;
  /** The hashed client address; none if it cannot be told from others. */
  client: string | undefined;
  context: RequestContext;
  nowMs: number;
};

/**
 * Maximum forms in ten minutes, of any kind. A browser that has signed in before has its own limit, so that others behind
 * the same address cannot use it up. Clients that cannot be told apart share a larger one.
 */
const maxForms = { ofOne: 30, ofAllUnknown: 3000 };
const windowSeconds = 10 * 60; // 10 minutes
export const probeSeconds = 10 * 60; // 10 minutes

/**
 * Creates the POST handler of a form. It redirects the browser with 303, so that going back posts nothing again. After a
 * failure it redirects to the form's page, which explains the problem, and after the end of a session to sign-in. A typed
 * email is kept for the next page. A form that needs cookies is first sent back to its own address by a 307, which keeps
 * its method and fields (RFC 9110 §15.4.8) and sets a cookie: pages from a shared cache cannot set one.
 *
 * @param page - the address of the page with the form; it explains the `problem` in its query
 * @param explained - the codes of refusals that the page explains as well; programs then get every refusal as an ApiError
 */
export function form(
  route: Route,
  page: (field: FormSubmission["field"]) => string,
  handler: (submission: FormSubmission) => Promise<Redirect | LeadAway>,
  explained?: readonly PublicErrorCode[],
): (request: Request) => Promise<Response> {
  const send = (call: HandlerRequest, { to, cookies = [] }: Redirect) =>
    redirectTo({ to, cookies: [...rememberTypedEmail(readFields(call)("email")), ...cookies] });
  const back = (call: HandlerRequest, problem: string) =>
    send(call, { to: withProblem(page(readFields(call)), problem) });
  return createHandler(
    route,
    async (call) => {
      const { headers, context, nowMs } = call;
      if (route.needsCookies && readCookie(headers, "office-probe") === undefined) {
        return call.url.searchParams.has("probed") ? back(call, "cookies") : probeCookies(route);
      }
      const client = knownClientKey(headers);
      const { allowed, retryAfterSeconds } = await consumeFormAllowance(headers);
      if (!allowed) return back(call, `too-many&wait=${retryAfterSeconds}`);
      const cookie = (name: CookieName) => readCookie(headers, name);
      const done = await handler({ field: readFields(call), cookie, headers, client, context, nowMs });
      return "away" in done ? leadAway(done.away) : send(call, done);
    },
    {
      renderError: (error, call) => {
        const { status, message, code } = error;
        if (explained && !call.headers.get("accept")?.includes("text/html")) return errorParts(error);
        if (explained?.includes(code)) return back(call, code);
        if (status >= 500) return back(call, "unavailable");
        if (status === 409) return back(call, "account");
        if (status === 401) return send(call, { to: withProblem(pages.signIn.path, "ended") });
        return { status, body: `${message}\n` };
      },
    },
  );
}

function probeCookies({ path }: Route): ResponseParts {
  const cookies = [writeCookie("office-probe", "1", probeSeconds)];
  return { ...redirectTo({ to: `${path}?probed`, cookies }), status: 307 };
}

/** Counts a form, or what a page's script sends instead of one, towards the client's limit. */
export async function consumeFormAllowance(headers: Headers): Promise<RateLimitDecision> {
  const key = readKnownBrowser(headers) ?? knownClientKey(headers);
  return key
    ? counter("forms", maxForms.ofOne, { windowSeconds }).consume(key, performance.now())
    : counter("forms-of-unknown", maxForms.ofAllUnknown, { windowSeconds }).consume("all", performance.now());
}

/** Returns a function that reads the trimmed fields of a form. */
export function readFields({ body }: Pick<HandlerRequest, "body">): FormSubmission["field"] {
  const fields = new URLSearchParams(body.toString());
  return (name) => fields.get(name)?.trim() ?? "";
}

/** The address of a page that explains a problem. */
export function withProblem(page: string, problem: string): string {
  return `${page}${page.includes("?") ? "&" : "?"}problem=${problem}`;
}

/**
 * A page in between, because browsers hold a redirect after a form to the CSP `form-action` of the form's page, and the
 * address is not ours: Stripe serves its pages from hosts that its customers choose.
 */
function leadAway(url: string): ResponseParts {
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
