import type { IncomingMessage, ServerResponse } from "node:http";
import { renderConcurrency, renderRateLimit } from "@/lib/config/limits";
import { settings } from "@/lib/config/settings";
import { ApiError, tooManyRequests } from "@/lib/http/errors";
import { headersAt } from "@/lib/http/page-headers";
import { pages } from "@/lib/http/pages";
import { errorParts, LazyResponse, type ResponseParts, toResponse } from "@/lib/http/response";
import { routeAt } from "@/lib/http/router";
import { knownClientKey } from "@/lib/rate-limit/client-address";
import { LocalCounter } from "@/lib/rate-limit/local-counter";
import { rateLimitMessage } from "@/lib/rate-limit/rate-limit";
import { log } from "@/lib/runtime/log";
import { compressOnce } from "@/lib/server/cached-response";
import { ConcurrencyLimiter } from "@/lib/server/concurrency-limiter";
import { FileCache } from "@/lib/server/file-cache";
import type { JoinedMessage } from "@/lib/server/joined-message";
import { PageCache } from "@/lib/server/page-cache";
import { plainPage } from "@/lib/server/plain-page";
import { pageHandler } from "@/lib/server/routes";
import { leaveUnread, send, toHeaders, toRequest } from "@/lib/server/web-adapter";

/**
 * Answers files, and pages that are the same for everyone, from memory, and renders the others within each client's rate
 * and concurrency limits. Answers 429 or 503 with `Retry-After` if a page cannot be shown.
 */
export function createPageHandler() {
  const { requests, windowSeconds } = renderRateLimit;
  const counter = new LocalCounter(requests, windowSeconds * 1000);
  const limiter = new ConcurrencyLimiter(renderConcurrency);
  const fileCache = new FileCache();
  const pageCache = new PageCache((path, cookie) =>
    pageHandler(path)(new Request(settings().appUrl + path, { headers: cookie ? { cookie } : {} })),
  );

  function consume(client: string): void {
    const { allowed, retryAfterSeconds } = counter.consume(client, performance.now());
    if (allowed) return;
    throw tooManyRequests({
      message: rateLimitMessage(requests, windowSeconds, retryAfterSeconds),
      retryAfterSeconds,
    });
  }

  return async (incoming: JoinedMessage, outgoing: ServerResponse): Promise<void> => {
    let signal: AbortSignal | undefined;
    const [path = "", query = ""] = incoming.url?.split("?", 2) ?? [];
    const isShared = routeAt(path)?.isShared;
    const requestId = isShared ? [] : ["x-request-id", String(incoming.headers["x-request-id"])];
    try {
      leaveUnread(incoming, outgoing);
      const headers = toHeaders(incoming);
      const kept = fileCache.find(path, query) ?? (await pageCache.find(path, query, headers));
      if (kept) return await kept.send(incoming, outgoing, requestId);
      const client = knownClientKey(headers);
      if (client) consume(client);
      signal = abortOnClose(outgoing);
      const request = toRequest(incoming, settings().appUrl + incoming.url, outgoing);
      const response = await limiter.run(client, signal, () => pageHandler(path)(request));
      const page = await compressed(response, incoming.headers["accept-encoding"]);
      await send(page, incoming, outgoing, [...headersAt(path), ...requestId]);
    } catch (thrown) {
      if (signal?.aborted) return;
      const error = thrown instanceof ApiError ? thrown : pageUnavailable(thrown);
      const defaults = ["cache-control", "no-store", ...requestId, ...headersAt(pages.nothingHere.path)];
      await send(
        toResponse(incoming.method ?? "", toPageOrJson(error, incoming), defaults),
        incoming,
        outgoing,
      );
    }
  };
}

/** The same response, compressed if the client takes that. */
async function compressed(response: Response, accepted: string | undefined): Promise<Response> {
  const { fields, content } = (response instanceof LazyResponse && response.parts) || { content: null };
  if (content === null) return response;
  const once = await compressOnce(Buffer.from(content), accepted);
  const others = fields.filter((_, at) => fields[at - (at % 2)] !== "content-length");
  const about = ["content-length", String(once.content.length), "vary", "Accept-Encoding"];
  if (once.encoding !== "identity") about.push("content-encoding", once.encoding);
  return new LazyResponse(response.status, [...others, ...about], once.content) as unknown as Response;
}

/** Aborts when the client is gone. */
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

/** A refusal: a page that reloads itself for a browser, the ApiError JSON for a program. */
function toPageOrJson(error: ApiError, { headers }: IncomingMessage): ResponseParts {
  const answer = errorParts(error);
  if (!headers.accept?.includes("text/html")) return answer;
  const seconds = error.headers["retry-after"];
  const content = `<p>${error.message}</p>
<p>Nothing is lost. This page reloads in ${seconds} seconds.</p>`;
  const reload = `<meta http-equiv="refresh" content="${seconds}">\n`;
  return { ...answer, ...plainPage("One moment, please", content, reload) };
}
