import { ownClientKey } from "@/lib/api/client-address";
import { type CookieName, readCookie } from "@/lib/api/cookies";
import type { Answer } from "@/lib/api/headers";
import { type Place, pages } from "@/lib/api/pages";
import type { Decision } from "@/lib/api/process-counter";
import { counter } from "@/lib/api/rate-limit";
import type { Visit } from "@/lib/api/visit";
import { type Call, cookieHeaders, hall } from "@/lib/pages/hall";
import { readKnownBrowser } from "@/lib/pages/known-browser";
import { keepTypedEmail } from "@/lib/pages/typed-email";

/** Where the browser goes after a form, and the cookies that it takes along. */
export type Onward = { to: string; cookies?: string[] };

/** What a form's room is given: the fields as they were typed, without the blanks around them. */
export type Submission = {
  field: (name: string) => string;
  cookie: (name: CookieName) => string | undefined;
  /** What the browser proves of itself. */
  headers: Headers;
  /** The client's address, hashed; none where it cannot be told from others. */
  client: string | undefined;
  visit: Visit;
  nowMs: number;
};

/**
 * Forms in ten minutes, whatever they are for. A browser that signed in before has an allowance of its own, so that
 * nobody behind the same address uses it up; all clients that cannot be told apart have a wide one together.
 */
const mostForms = { ofOne: 30, ofAllUnknown: 3000 };
const windowSeconds = 10 * 60; // 10 minutes

/**
 * The POST handler of a form on one of our pages. The browser is sent on to a page (303, so that going back
 * posts nothing again). A failure sends it back to the form's own page, which says what to do, and a session that is
 * over to sign in. An email that was typed is kept for the next page.
 *
 * @param page - the address of the page the form is on; it explains a `problem` of its query in words
 */
export function form(
  place: Place,
  page: (field: Submission["field"]) => string,
  room: (submission: Submission) => Promise<Onward>,
): (request: Request) => Promise<Response> {
  const send = (call: Call, { to, cookies = [] }: Onward) =>
    goTo({ to, cookies: [...keepTypedEmail(readFields(call)("email")), ...cookies] });
  const back = (call: Call, problem: string) =>
    send(call, { to: withProblem(page(readFields(call)), problem) });
  return hall(
    place,
    async (call) => {
      const { headers, visit, nowMs } = call;
      const client = ownClientKey(headers);
      const { allowed, retryAfterSeconds } = await spend(readKnownBrowser(headers) ?? client);
      if (!allowed) return back(call, `too-many&wait=${retryAfterSeconds}`);
      const cookie = (name: CookieName) => readCookie(headers, name);
      return send(call, await room({ field: readFields(call), cookie, headers, client, visit, nowMs }));
    },
    {
      say: ({ status, message }, call) => {
        if (status >= 500) return back(call, "unavailable");
        if (status === 409) return back(call, "account");
        if (status === 401) return send(call, { to: withProblem(pages.signIn.path, "ended") });
        return { status, body: `${message}\n` };
      },
    },
  );
}

async function spend(key: string | undefined): Promise<Decision> {
  return key
    ? counter("forms", mostForms.ofOne, { windowSeconds }).spend(key, performance.now())
    : counter("forms-of-unknown", mostForms.ofAllUnknown, { windowSeconds }).spend("all", performance.now());
}

/** The fields of a form, without the blanks around them. */
export function readFields({ body }: Pick<Call, "body">): Submission["field"] {
  const fields = new URLSearchParams(body.toString());
  return (name) => fields.get(name)?.trim() ?? "";
}

/** A page's address with the problem that it is to explain. */
export function withProblem(page: string, problem: string): string {
  return `${page}${page.includes("?") ? "&" : "?"}problem=${problem}`;
}

/** Sends a browser on to a page. */
export function goTo({ to, cookies = [] }: Onward): Answer {
  return { status: 303, body: null, headers: ["location", to, ...cookieHeaders(cookies)] };
}
