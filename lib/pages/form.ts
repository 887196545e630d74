import { clientKey } from "@/lib/api/client-address";
import { type CookieName, readCookie } from "@/lib/api/cookies";
import type { Answer } from "@/lib/api/headers";
import type { Place } from "@/lib/api/pages";
import { counter } from "@/lib/api/rate-limit";
import { type Call, cookieHeaders, hall } from "@/lib/pages/hall";

/** Where the browser goes after a form, and the cookies that it takes along. */
export type Onward = { to: string; cookies?: string[] };

/** What a form's room is given: the fields as they were typed, without the blanks around them. */
export type Submission = {
  field: (name: string) => string;
  cookie: (name: CookieName) => string | undefined;
  nowMs: number;
};

/** Forms of one client address in ten minutes, whatever they are for. */
const mostForms = 30;
const windowSeconds = 10 * 60; // 10 minutes

/**
 * The POST handler of a form on one of our pages. The browser is sent on to a page (303, so that going back
 * posts nothing again). A failure sends it back to the form's own page, which says what to do.
 *
 * @param page - the address of the page the form is on; it explains a `problem` of its query in words
 */
export function form(
  place: Place,
  page: (field: Submission["field"]) => string,
  room: (submission: Submission) => Promise<Onward>,
): (request: Request) => Promise<Response> {
  const back = (call: Call, problem: string) => ({ to: withProblem(page(readFields(call)), problem) });
  return hall(
    place,
    async (call) => {
      const { headers, nowMs } = call;
      const forms = counter("forms", mostForms, { windowSeconds });
      const { allowed } = await forms.spend(clientKey(headers), performance.now());
      if (!allowed) return goTo(back(call, "too-many"));
      const cookie = (name: CookieName) => readCookie(headers, name);
      return goTo(await room({ field: readFields(call), cookie, nowMs }));
    },
    {
      say: ({ status, message }, call) =>
        status >= 500 ? goTo(back(call, "unavailable")) : { status, body: `${message}\n` },
    },
  );
}

function readFields({ body }: Call): Submission["field"] {
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
