import { bodyLimits } from "@/lib/config/limits";
import { settings } from "@/lib/config/settings";
import { readBody } from "@/lib/http/body";
import { ApiError } from "@/lib/http/errors";
import { unexpectedError } from "@/lib/http/handler";
import type { Route } from "@/lib/http/pages";
import { createRequestContext, type RequestContext } from "@/lib/http/request-context";
import { type Answer, type HeaderList, requestIdHeader, toResponse } from "@/lib/http/response";
import { isEnabled } from "@/lib/http/router";

/** What a room outside `/api` is given. */
export type PageRequest = {
  url: URL;
  headers: Headers;
  /** The body of a POST, within the bound of its place. */
  body: Buffer;
  context: RequestContext;
  nowMs: number;
};

/** What leaves a place. */
export type PageResponseParts = Answer & {
  /** `Cache-Control`; without one nobody keeps it. */
  caching?: string;
};

/** Does the work of one place, and throws an {@link ApiError} to refuse. */
export type PageHandler = (call: PageRequest) => PageResponseParts | Promise<PageResponseParts>;

type Manners = {
  /** Puts a refusal, or a failure that nobody foresaw, into the words of this kind of place. */
  renderError: (error: ApiError, call: PageRequest) => PageResponseParts | Promise<PageResponseParts>;
  /** Takes a POST that no page of ours sent: it has a credential of its own, and no cookie counts. */
  acceptsAnyOrigin?: boolean;
  /** Refuses a POST before its body is read. */
  admit?: () => void;
  /** Makes the Response; without it, that of our pages. */
  finalizeResponse?: (context: RequestContext, answer: Answer) => Response;
};

/**
 * The hall of everything outside `/api`: the route handler of a place. A call walks origin → admission → body →
 * room → way out. Whatever is thrown on the way is said in the place's own words; a failure leaves one line in the log,
 * with the id that the answer carries.
 */
export function createHandler(
  route: Route,
  handler: PageHandler,
  { renderError, acceptsAnyOrigin = false, admit, finalizeResponse = finalizePage }: Manners,
): (request: Request) => Promise<Response> {
  return async (request) => {
    const { method, headers } = request;
    if (!isEnabled(route)) return new Response("There is nothing at this address.\n", { status: 404 });
    const context = createRequestContext(method, route.path, headers);
    const nowMs = Date.now();
    const call: PageRequest = { url: new URL(request.url), headers, body: Buffer.alloc(0), context, nowMs };
    try {
      if (method === "POST") {
        if (!acceptsAnyOrigin) requireOurOrigin(headers);
        admit?.();
        call.body = await readBody(request, route.takes ? bodyLimits[route.takes] : 0);
      }
      return finalizeResponse(context, await handler(call));
    } catch (thrown) {
      const error = thrown instanceof ApiError ? thrown : unexpectedError(thrown, context);
      return finalizeResponse(context, await renderError(error, call));
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

function finalizePage(
  context: RequestContext,
  { caching = "no-store", ...answer }: PageResponseParts,
): Response {
  return toResponse(context.method, answer, ["cache-control", caching, ...requestIdHeader(context, caching)]);
}

/** The `Set-Cookie` headers of an answer. */
export function cookieHeaders(cookies: readonly string[]): HeaderList {
  return cookies.flatMap((cookie) => ["set-cookie", cookie]);
}
