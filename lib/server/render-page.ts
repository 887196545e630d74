import type { IncomingMessage, ServerResponse } from "node:http";
import { bodyLimits, renderConcurrency, renderRateLimit } from "@/lib/config/limits";
import { settings } from "@/lib/config/settings";
import { readBody } from "@/lib/http/body";
import { ApiError, tooManyRequests } from "@/lib/http/errors";
import { limitHeaders, limitQuery } from "@/lib/http/forwarded-request";
import { headersAt } from "@/lib/http/page-headers";
import { pages } from "@/lib/http/pages";
import { errorParts, type ResponseParts, toResponse } from "@/lib/http/response";
import { routeAt } from "@/lib/http/router";
import { clientAddress, knownClientKey } from "@/lib/rate-limit/client-address";
import { LocalCounter } from "@/lib/rate-limit/local-counter";
import { rateLimitMessage } from "@/lib/rate-limit/rate-limit";
import { log } from "@/lib/runtime/log";
import { ConcurrencyLimiter } from "@/lib/server/concurrency-limiter";
import { FileCache } from "@/lib/server/file-cache";
import type { JoinedMessage } from "@/lib/server/joined-message";
import { PageCache } from "@/lib/server/page-cache";
import type { PageRenderer, RenderedPage, RenderRequest } from "@/lib/server/page-renderer";
import { plainPage } from "@/lib/server/plain-page";
import { pathOf } from "@/lib/server/request-target";
import { sharedHandler } from "@/lib/server/routes";
import { leaveUnread, send, toHeaders, toRequest } from "@/lib/server/web-adapter";

/**
 * Answers shared pages and files from memory, and has the page renderer render the others, within each client's rate and
 * concurrency limits. Answers 429 or 503 with `Retry-After` if a page cannot be shown.
 */
export function createPageHandler(process: PageRenderer) {
  const { requests, windowSeconds } = renderRateLimit;
  const counter = new LocalCounter(requests, windowSeconds * 1000);
  const limiter = new ConcurrencyLimiter(renderConcurrency);
  const fileCache = new FileCache();
  const pageCache = new PageCache((path, cookie) =>
    renderHere({ method: "GET", url: path }, { ...ownOriginHeaders(), ...(cookie && { cookie }) }),
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
    try {
      leaveUnread(incoming, outgoing);
      const [path = "", query = ""] = incoming.url?.split("?", 2) ?? [];
      const headers = toHeaders(incoming);
      const isPost = incoming.method === "POST";
      const kept = isPost
        ? undefined
        : (fileCache.find(path, query) ?? (await pageCache.find(path, query, headers)));
      if (kept) {
        const own = routeAt(path)?.isShared ? [] : ["x-request-id", requestIdOf(incoming)];
        return await kept.send(incoming, outgoing, own);
      }
      const client = knownClientKey(headers);
      if (client) consume(client);
      signal = abortOnClose(outgoing);
      const renderRequest = await toRenderRequest(incoming, outgoing);
      const page = await limiter.run(client, signal, () =>
        path === pages.status.path
          ? renderHere(renderRequest, forwardedHeaders(incoming))
          : process.render(renderRequest, forwardedHeaders(incoming)),
      );
      outgoing.writeHead(page.status, page.headers).end(page.content);
    } catch (thrown) {
      if (signal?.aborted) return;
      const error = thrown instanceof ApiError ? thrown : rendererUnavailable(thrown);
      const defaults = ["cache-control", "no-store", "x-request-id", requestIdOf(incoming)];
      defaults.push(...headersAt(pages.nothingHere.path, ""));
      await send(
        toResponse(incoming.method ?? "", toPageOrJson(error, incoming), defaults),
        incoming,
        outgoing,
      );
    }
  };
}

/**
 * Renders in this process: what is the same for everyone, once each, so that it is there from the first second and while
 * no page renderer is; and `/status`, which reports the state of this process.
 */
async function renderHere(
  { method = "", url = "" }: RenderRequest,
  headers: Record<string, string>,
): Promise<RenderedPage> {
  const path = pathOf(url);
  const response = await sharedHandler(path)(new Request(settings().appUrl + url, { method, headers }));
  return {
    status: response.status,
    headers: [...headersAt(path, ""), ...[...response.headers].flat()],
    content: Buffer.from(await response.arrayBuffer()),
  };
}

/** Aborts when the client is gone. */
function abortOnClose(outgoing: ServerResponse): AbortSignal {
  const signal = new AbortController();
  outgoing.once("close", () => signal.abort());
  return signal.signal;
}

/** Reads the request to render. The router accepts a POST only for Clerk's components. */
async function toRenderRequest(incoming: JoinedMessage, outgoing: ServerResponse): Promise<RenderRequest> {
  const { method, url: target = "" } = incoming;
  const url = limitQuery(target);
  if (method !== "POST") return { method, url };
  const request = toRequest(incoming, settings().appUrl + url, outgoing);
  return { method, url, body: await readBody(request, bodyLimits.form) };
}

/** The request id that the server set. */
function requestIdOf({ headers }: IncomingMessage): string {
  return String(headers["x-request-id"]);
}

/** The headers for the page renderer. Internal headers of Next that a client sent are dropped. */
function forwardedHeaders({ method, headers }: IncomingMessage): Record<string, string> {
  const sent = limitHeaders(method, (name) => {
    const value = headers[name];
    return typeof value === "string" ? value : undefined;
  });
  const address = clientAddress(toHeaders({ headers } as IncomingMessage));
  return {
    ...Object.fromEntries(sent),
    ...ownOriginHeaders(),
    ...(address && { "x-forwarded-for": address }),
  };
}

/** Our own host and scheme, never taken from the request. */
function ownOriginHeaders(): Record<string, string> {
  const { host, protocol } = new URL(settings().appUrl);
  return { host, "x-forwarded-host": host, "x-forwarded-proto": protocol.slice(0, -1) };
}

function rendererUnavailable(cause: unknown): ApiError {
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
