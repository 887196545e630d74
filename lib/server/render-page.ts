import type { ServerResponse } from "node:http";
import { handlerAt } from "@/app/routes";
import { concurrency } from "@/lib/config/limits";
import { settings } from "@/lib/config/settings";
import { ConcurrencyLimiter } from "@/lib/http/concurrency-limiter";
import { ApiError } from "@/lib/http/errors";
import { type IncomingRequest, OwnRequest } from "@/lib/http/incoming-request";
import { actions, pages, publications } from "@/lib/http/pages";
import { askToWait } from "@/lib/http/plain-page";
import { createRequestContext, logRequest } from "@/lib/http/request-context";
import { finalizeResponse } from "@/lib/http/response";
import { pageAt, routeAt } from "@/lib/http/router";
import { knownClientKey } from "@/lib/rate-limit/client-address";
import { log } from "@/lib/runtime/log";
import { compressOnce } from "@/lib/server/cached-response";
import type { JoinedMessage } from "@/lib/server/joined-message";
import { PageCache } from "@/lib/server/page-cache";
import { pathOf } from "@/lib/server/request-target";
import { ask, leaveUnread, send } from "@/lib/server/web-adapter";

/** Our status for a client that left before its turn. No one receives it. */
const clientLeft = 499;

/** Whether a request is for a page, a file or a publication, which are kept in memory or rendered within bounds. */
export function rendersAt(method: string, path: string): boolean {
  if (method !== "GET" && method !== "HEAD") return false;
  const route = routeAt(path);
  if (!route) return true;
  // A revoked key must disappear at once; the page of the mail clients' link has its own limit.
  if (route.path === publications.jwks.path || route.path === pages.unsubscribe.path) return false;
  return route.isShared === true || pageAt(path) !== undefined || path === actions.findHits.path;
}

/**
 * Answers files, and pages that are the same for everyone, from memory, and renders the others within each client's
 * bounds. Answers 429 or 503 with `Retry-After` if a page cannot be shown.
 */
export function createPageHandler() {
  const limiter = new ConcurrencyLimiter(concurrency);
  const pageCache = new PageCache((target, headers) =>
    ask(handlerAt(pathOf(target)), new OwnRequest(settings().appUrl + target, headers)),
  );

  return async (
    incoming: JoinedMessage,
    outgoing: ServerResponse,
    request: IncomingRequest,
  ): Promise<void> => {
    const { method, headers } = request;
    const [path = "", query = ""] = incoming.url?.split("?", 2) ?? [];
    const context = createRequestContext(method, path, headers);
    let signal: AbortSignal | undefined;
    try {
      leaveUnread(incoming, outgoing);
      const kept = await pageCache.find(path, query, headers);
      if (kept) {
        const requestId = routeAt(path)?.isShared ? [] : ["x-request-id", context.requestId];
        const status = await kept.send(incoming, outgoing, requestId);
        return logRequest(context, status);
      }
      const client = knownClientKey(headers);
      signal = abortOnClose(outgoing);
      const answer = await limiter.run(client, signal, () => ask(handlerAt(path), request));
      send(await compressOnce(answer, incoming.headers["accept-encoding"]), incoming, outgoing);
    } catch (thrown) {
      if (signal?.aborted) return logRequest(context, clientLeft);
      const error = thrown instanceof ApiError ? thrown : pageUnavailable(thrown);
      const parts = askToWait(error, headers);
      send(finalizeResponse(pages.nothingHere, context, parts), incoming, outgoing);
    }
  };
}

function abortOnClose(outgoing: ServerResponse): AbortSignal {
  const signal = new AbortController();
  outgoing.once("close", () => signal.abort());
  return signal.signal;
}

function pageUnavailable(cause: unknown): ApiError {
  log().warn({ err: cause }, "a page cannot be shown");
  return new ApiError("unavailable", {
    message: "This page cannot be shown at the moment.",
    headers: { "retry-after": "5" },
  });
}
