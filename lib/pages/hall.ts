import { readBody } from "@/lib/api/body";
import { isHere } from "@/lib/api/door";
import { unexpected } from "@/lib/api/endpoint";
import { ApiError } from "@/lib/api/errors";
import { type Answer, type HeaderList, nameRequest, toResponse } from "@/lib/api/headers";
import type { Place } from "@/lib/api/pages";
import { beginVisit, type Visit } from "@/lib/api/visit";
import { bodyLimits } from "@/lib/settings/limits";
import { settings } from "@/lib/settings/settings";

/** What a room outside `/api` is given. */
export type Call = {
  url: URL;
  headers: Headers;
  /** The body of a POST, within the bound of its place. */
  body: Buffer;
  visit: Visit;
  nowMs: number;
};

/** What leaves a place. */
export type PlaceAnswer = Answer & {
  /** `Cache-Control`; without one nobody keeps it. */
  caching?: string;
};

/** Does the work of one place, and throws an {@link ApiError} to refuse. */
export type Room = (call: Call) => PlaceAnswer | Promise<PlaceAnswer>;

type Manners = {
  /** Puts a refusal, or a failure that nobody foresaw, into the words of this kind of place. */
  say: (error: ApiError, call: Call) => PlaceAnswer | Promise<PlaceAnswer>;
  /** Takes a POST that no page of ours sent: it has a credential of its own, and no cookie counts. */
  fromAnywhere?: boolean;
  /** Refuses a POST before its body is read. */
  admit?: () => void;
  /** Makes the Response; without it, that of our pages. */
  leave?: (visit: Visit, answer: Answer) => Response;
};

/**
 * The hall of everything outside `/api`: the route handler of a place. A call walks origin → admission → body →
 * room → way out. Whatever is thrown on the way is said in the place's own words; a failure leaves one line in the log,
 * with the id that the answer carries.
 */
export function hall(
  place: Place,
  room: Room,
  { say, fromAnywhere = false, admit, leave = leavePage }: Manners,
): (request: Request) => Promise<Response> {
  return async (request) => {
    const { method, headers } = request;
    if (!isHere(place)) return new Response("There is nothing at this address.\n", { status: 404 });
    const visit = beginVisit(method, place.path, headers);
    const nowMs = Date.now();
    const call: Call = { url: new URL(request.url), headers, body: Buffer.alloc(0), visit, nowMs };
    try {
      if (method === "POST") {
        if (!fromAnywhere) requireOurOrigin(headers);
        admit?.();
        call.body = await readBody(request, place.takes ? bodyLimits[place.takes] : 0);
      }
      return leave(visit, await room(call));
    } catch (thrown) {
      const error = thrown instanceof ApiError ? thrown : unexpected(thrown, visit);
      return leave(visit, await say(error, call));
    }
  };
}

/**
 * A POST comes from a page of ours when its `Origin`, which every browser sends with a POST and no page can
 * forge, is our address. A request without one is not a browser's.
 */
function requireOurOrigin(headers: Headers): void {
  const { appUrl } = settings();
  if (headers.get("origin") === appUrl) return;
  throw new ApiError("forbidden", {
    message: `This is only taken from a page of ${appUrl}.`,
    hint: "Open the page there, and try again.",
  });
}

function leavePage(visit: Visit, { caching = "no-store", ...answer }: PlaceAnswer): Response {
  return toResponse(visit.method, answer, ["cache-control", caching, ...nameRequest(visit, caching)]);
}

/** The `Set-Cookie` headers of an answer. */
export function cookieHeaders(cookies: readonly string[]): HeaderList {
  return cookies.flatMap((cookie) => ["set-cookie", cookie]);
}
