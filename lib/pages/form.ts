import { readBody } from "@/lib/api/body";
import { clientKey } from "@/lib/api/client-address";
import { type CookieName, readCookie } from "@/lib/api/cookies";
import { ApiError } from "@/lib/api/errors";
import { counter } from "@/lib/api/rate-limit";
import { isFromOurPages } from "@/lib/pages/origin";
import { log } from "@/lib/process/log";
import { bodyLimits } from "@/lib/settings/limits";
import { type SignIn, settings } from "@/lib/settings/settings";

/** Where the browser goes after a form, and the cookies that it takes along. */
export type Onward = { to: string; cookies?: string[] };

/** What a form's room is given: the fields as they were typed, without the blanks around them. */
export type Submission = {
  field: (name: string) => string;
  cookie: (name: CookieName) => string | undefined;
  nowMs: number;
};

type FormOptions = {
  /** The address of the page the form is on; it explains a `problem` of its query in words. */
  page: (field: Submission["field"]) => string;
  /** The kinds of sign-in under which there is such a form; under others it is a 404. */
  under: readonly SignIn["kind"][];
};

/** Forms of one client address in ten minutes, whatever they are for. */
const mostForms = 30;
const windowSeconds = 10 * 60; // 10 minutes

/**
 * The hall of forms: the POST handler of a form on one of our pages. A form walks origin → fields → count →
 * room, and the browser is sent on to a page (303, so that going back posts nothing again). Whatever is
 * thrown on the way sends it back to the form's own page, which says what to do.
 */
export function form(
  { page, under }: FormOptions,
  room: (submission: Submission) => Promise<Onward>,
): (request: Request) => Promise<Response> {
  return async (request) => {
    if (!under.includes(settings().signIn.kind)) return say(404, "There is nothing at this address.");
    if (!isFromOurPages(request.headers))
      return say(403, `This form is only taken from ${settings().appUrl}.`);
    const nowMs = Date.now();
    const fields = await readFields(request);
    if (fields instanceof ApiError) return say(fields.status, fields.message);
    const field = (name: string) => fields.get(name)?.trim() ?? "";
    const cookie = (name: CookieName) => readCookie(request.headers, name);
    const back = (problem: string) => goTo({ to: withProblem(page(field), problem) });
    try {
      const forms = counter("forms", mostForms, { windowSeconds });
      const { allowed } = await forms.spend(clientKey(request.headers), performance.now());
      return allowed ? goTo(await room({ field, cookie, nowMs })) : back("too-many");
    } catch (failure) {
      log().error({ err: failure }, "a form could not be taken");
      return back("unavailable");
    }
  };
}

async function readFields(request: Request): Promise<URLSearchParams | ApiError> {
  try {
    return new URLSearchParams((await readBody(request, bodyLimits.form)).toString());
  } catch (failure) {
    if (failure instanceof ApiError) return failure;
    throw failure;
  }
}

/** A page's address with the problem that it is to explain. */
export function withProblem(page: string, problem: string): string {
  return `${page}${page.includes("?") ? "&" : "?"}problem=${problem}`;
}

function goTo({ to, cookies = [] }: Onward): Response {
  const headers = new Headers({ location: to, "cache-control": "no-store" });
  for (const cookie of cookies) headers.append("set-cookie", cookie);
  return new Response(null, { status: 303, headers });
}

function say(status: number, words: string): Response {
  const headers = { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store" };
  return new Response(`${words}\n`, { status, headers });
}
