import { type CookieName, cookieHeaders, readCookie } from "@/lib/http/cookies";
import { createHandler, type HandlerRequest } from "@/lib/http/handler";
import { readKnownBrowser } from "@/lib/http/known-browser";
import { pages } from "@/lib/http/pages";
import type { RequestContext } from "@/lib/http/request-context";
import type { ResponseParts } from "@/lib/http/response";
import type { Route } from "@/lib/http/route";
import { rememberTypedEmail } from "@/lib/http/typed-email";
import { knownClientKey } from "@/lib/rate-limit/client-address";
import type { RateLimitDecision } from "@/lib/rate-limit/local-counter";
import { counter } from "@/lib/rate-limit/rate-limit";

/** Where the browser goes after a form, and the cookies that it takes along. */
export type Redirect = { to: string; cookies?: string[] };

/** What a form's room is given: the fields as they were typed, without the blanks around them. */
export type FormSubmission = {
  field: (name: string) => string;
  cookie: (name: CookieName) => string | undefined;
  /** What the browser proves of itself. */
  headers: Headers;
  /** The client's address, hashed; none where it cannot be told from others. */
  client: string | undefined;
  context: RequestContext;
  nowMs: number;
};

/**
 * Forms in ten minutes, whatever they are for. A browser that signed in before has an allowance of its own, so that
 * nobody behind the same address uses it up; all clients that cannot be told apart have a wide one together.
 */
const maxForms = { ofOne: 30, ofAllUnknown: 3000 };
const windowSeconds = 10 * 60; // 10 minutes

/**
 * The POST handler of a form on one of our pages. The browser is sent on to a page (303, so that going back
 * posts nothing again). A failure sends it back to the form's own page, which says what to do, and a session that is
 * over to sign in. An email that was typed is kept for the next page.
 *
 * @param page - the address of the page the form is on; it explains a `problem` of its query in words
 */
export function form(
  route: Route,
  page: (field: FormSubmission["field"]) => string,
  handler: (submission: FormSubmission) => Promise<Redirect>,
): (request: Request) => Promise<Response> {
  const send = (call: HandlerRequest, { to, cookies = [] }: Redirect) =>
    redirectTo({ to, cookies: [...rememberTypedEmail(readFields(call)("email")), ...cookies] });
  const back = (call: HandlerRequest, problem: string) =>
    send(call, { to: withProblem(page(readFields(call)), problem) });
  return createHandler(
    route,
    async (call) => {
      const { headers, context, nowMs } = call;
      const client = knownClientKey(headers);
      const { allowed, retryAfterSeconds } = await consume(readKnownBrowser(headers) ?? client);
      if (!allowed) return back(call, `too-many&wait=${retryAfterSeconds}`);
      const cookie = (name: CookieName) => readCookie(headers, name);
      return send(call, await handler({ field: readFields(call), cookie, headers, client, context, nowMs }));
    },
    {
      renderError: ({ status, message }, call) => {
        if (status >= 500) return back(call, "unavailable");
        if (status === 409) return back(call, "account");
        if (status === 401) return send(call, { to: withProblem(pages.signIn.path, "ended") });
        return { status, body: `${message}\n` };
      },
    },
  );
}

async function consume(key: string | undefined): Promise<RateLimitDecision> {
  return key
    ? counter("forms", maxForms.ofOne, { windowSeconds }).consume(key, performance.now())
    : counter("forms-of-unknown", maxForms.ofAllUnknown, { windowSeconds }).consume("all", performance.now());
}

/** The fields of a form, without the blanks around them. */
export function readFields({ body }: Pick<HandlerRequest, "body">): FormSubmission["field"] {
  const fields = new URLSearchParams(body.toString());
  return (name) => fields.get(name)?.trim() ?? "";
}

/** A page's address with the problem that it is to explain. */
export function withProblem(page: string, problem: string): string {
  return `${page}${page.includes("?") ? "&" : "?"}problem=${problem}`;
}

/** Sends a browser on to a page. */
export function redirectTo({ to, cookies = [] }: Redirect): ResponseParts {
  return { status: 303, body: null, headers: ["location", to, ...cookieHeaders(cookies)] };
}
