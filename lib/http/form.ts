import { type CookieName, cookieHeaders, readCookie } from "@/lib/http/cookies";
import type { PublicErrorCode } from "@/lib/http/errors";
import { escapeHtml } from "@/lib/http/escape-html";
import {
  createHandler,
  type HandlerOptions,
  type HandlerRequest,
  keepsNoCookies,
  provesNothing,
  type RouteHandler,
} from "@/lib/http/handler";
import { pages } from "@/lib/http/pages";
import { errorParts, inPlainText, type ResponseParts } from "@/lib/http/response";
import type { Route } from "@/lib/http/route";
import { rememberTypedEmail } from "@/lib/http/typed-email";
import { knownClientKey } from "@/lib/rate-limit/client-address";

/** Where the browser is redirected after a form, and the cookies it gets. */
export type Redirect = { to: string; cookies?: string[] };

/** The address at another service to which the browser is led after a form. */
export type ExternalRedirect = { away: string };

/** The input of a form's handler. Fields are trimmed. */
export type FormSubmission = Pick<HandlerRequest, "headers" | "browser" | "context" | "nowMs"> & {
  field: (name: string) => string;
  cookie: (name: CookieName) => string | undefined;
  /** The hashed client address; none if it cannot be told from others. */
  client: string | undefined;
};

type FormOptions<Who> = Pick<HandlerOptions<Who>, "identify" | "hasProof"> & {
  /** The codes of refusals that the page explains as well; programs then get every refusal as an ApiError. */
  explained?: readonly PublicErrorCode[];
  /** The address of the page with the form, if its route does not say it: it explains the `problem` in its query. */
  page?: (field: FormSubmission["field"]) => string;
};

/**
 * Creates the POST handler of a form. It redirects the browser with 303, so that going back posts nothing again. After a
 * failure it redirects to the form's page, which explains the problem, and after the end of a session to sign-in. A typed
 * email is kept for the next page.
 */
export function form<Who = undefined>(
  route: Route,
  handler: (submission: FormSubmission, who: Who) => Promise<Redirect | ExternalRedirect | ResponseParts>,
  { explained, page = () => route.page ?? pages.home.path, ...checks }: FormOptions<Who> = {},
): RouteHandler {
  const send = (call: HandlerRequest, { to, cookies = [] }: Redirect) =>
    redirectTo({ to, cookies: [...rememberTypedEmail(readFields(call)("email")), ...cookies] });
  const back = (call: HandlerRequest, problem: string) =>
    send(call, { to: withProblem(page(readFields(call)), problem) });
  return createHandler(
    route,
    async (call, who) => {
      const { headers, browser, context, nowMs } = call;
      const client = knownClientKey(headers);
      const cookie = (name: CookieName) => readCookie(headers, name);
      const submission = { field: readFields(call), cookie, headers, browser, client, context, nowMs };
      const done = await handler(submission, who);
      if ("status" in done) return done;
      return "away" in done ? redirectAway(done.away) : send(call, done);
    },
    {
      ...checks,
      renderError: (error, call) => {
        const { status, code } = error;
        if (error === keepsNoCookies) return back(call, "cookies");
        if (error === provesNothing)
          return send(call, { to: `${withProblem(page(readFields(call)), "confirm")}#ways` });
        if (explained && !call.headers.get("accept")?.includes("text/html")) return errorParts(error);
        if (explained?.includes(code)) return back(call, code);
        if (status === 429) return back(call, `too-many&wait=${error.headers["retry-after"]}`);
        if (status >= 500) return back(call, "unavailable");
        if (status === 409) return back(call, "account");
        if (status === 401) return send(call, { to: withProblem(pages.signIn.path, "ended") });
        return inPlainText(error);
      },
    },
  );
}

/**
 * Returns a function that reads the trimmed fields of a form. If it was refused before its body was read, they are those
 * in the address of its page.
 */
export function readFields({
  body,
  headers,
}: Pick<HandlerRequest, "body" | "headers">): FormSubmission["field"] {
  const ofPage = () => headers.get("referer")?.split("?", 2)[1];
  const fields = new URLSearchParams(body.length > 0 ? body.toString() : ofPage());
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
