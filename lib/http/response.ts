import { settings } from "@/lib/config/settings";
import type { ApiError } from "@/lib/http/errors";
import { delegateToReal, type Lazy } from "@/lib/http/lazy-object";
import { pages } from "@/lib/http/pages";
import { logRequest, type RequestContext } from "@/lib/http/request-context";
import { retirementHeaders, retirementOf } from "@/lib/http/retirement";
import type { Route } from "@/lib/http/route";
import { processSingleton } from "@/lib/process-singleton";

/** Names and values alternately, as Node accepts them: 40 times as fast as an object with computed keys. */
export type HeaderList = readonly string[];

/** The parts of a response, before {@link finalizeResponse} adds the default headers. */
export type ResponseParts = {
  status: number;
  /** An object is sent as JSON, a string as plain text, `null` as no content. */
  body: object | string | null;
  /** The media type of a string that is not plain text. */
  mediaType?: string;
  headers?: HeaderList;
  /** `Cache-Control`; by default that of the route. */
  caching?: string;
};

/**
 * Makes the Response of every request under `/api`, `/mcp` and `/hooks`, refusals included: adds the default headers, and
 * logs the request.
 *
 * @param route - the route of the request; none for a 404
 */
export function finalizeResponse(
  route: Route | undefined,
  context: RequestContext,
  parts: ResponseParts,
  rateLimitHeaders: HeaderList = [],
): Response {
  const caching = cachingOf(route, parts);
  logRequest(context, parts.status);
  return toResponse(context.method, parts, [
    ...defaultHeaders(route),
    "cache-control",
    caching,
    ...requestIdHeader(context, caching),
    ...rateLimitHeaders,
  ]);
}

/** Makes the Response of a page or a form. The server and `middleware.ts` add the other headers, and the log line. */
export function finalizePageResponse(route: Route, context: RequestContext, parts: ResponseParts): Response {
  const caching = cachingOf(route, parts);
  return toResponse(context.method, parts, [
    "cache-control",
    caching,
    ...requestIdHeader(context, caching),
    ...corsHeaders(route),
  ]);
}

function cachingOf(route: Route | undefined, { status, caching }: ResponseParts): string {
  return caching ?? (status === 200 ? route?.caching : undefined) ?? "no-store";
}

/** CORS headers without credentials, where the route allows any origin. */
function corsHeaders({ anyOrigin }: Route): HeaderList {
  return anyOrigin
    ? ["access-control-allow-origin", "*", "access-control-expose-headers", anyOrigin.reads]
    : [];
}

/** `X-Request-Id`, except on what shared caches keep: the id belongs to one client. */
export function requestIdHeader({ requestId }: RequestContext, caching: string): HeaderList {
  return caching.startsWith("public") ? [] : ["x-request-id", requestId];
}

/** Makes a Response. HEAD gets only the headers (RFC 9110 §9.3.2). */
export function toResponse(
  method: string,
  { status, body, mediaType, headers = [] }: ResponseParts,
  defaults: HeaderList,
): Response {
  let content: string | null = null;
  let contentHeaders: HeaderList = [];
  if (body !== null) {
    const written = typeof body === "string" ? measure(body, "text/plain; charset=utf-8") : toJson(body);
    content = written.content;
    contentHeaders = ["content-type", mediaType ?? written.mediaType, "content-length", written.length];
  } else if (status !== 204 && status !== 304) {
    contentHeaders = ["content-length", "0"];
  }
  const fields = [...defaults, ...headers, ...contentHeaders];
  return new LazyResponse(status, fields, method === "HEAD" ? null : content) as unknown as Response;
}

const measure = (content: string, mediaType: string) => ({
  content,
  mediaType,
  length: String(Buffer.byteLength(content)),
});

const frozenJson = new WeakMap<object, ReturnType<typeof measure>>();

/** Writes an object as JSON. The result of a frozen object is cached. */
function toJson(body: object) {
  const known = frozenJson.get(body);
  if (known) return known;
  const written = measure(JSON.stringify(body), "application/json");
  if (Object.isFrozen(body)) frozenJson.set(body, written);
  return written;
}

/** The response to a refusal: its status, and the ApiError in JSON. */
export function errorParts(error: ApiError): ResponseParts {
  const headers: string[] = [];
  for (const [name, value] of Object.entries(error.headers)) headers.push(name, value);
  return { status: error.status, body: error.toJSON(), headers };
}

/** A Response with known parts: our server sends them directly, and a platform reads a real Response. */
export class LazyResponse implements Lazy<Response> {
  readonly #status: number;
  readonly #fields: HeaderList;
  readonly #content: string | Buffer | null;
  #made: Response | undefined;

  constructor(status: number, fields: HeaderList, content: string | Buffer | null) {
    this.#status = status;
    this.#fields = fields;
    this.#content = content;
  }

  get status(): number {
    return this.#status;
  }

  /** The parts; `undefined` once the real Response exists, which may have been changed or read. */
  get parts(): { fields: HeaderList; content: string | Buffer | null } | undefined {
    return this.#made ? undefined : { fields: this.#fields, content: this.#content };
  }

  get real(): Response {
    if (!this.#made) {
      const headers = new Headers();
      for (let at = 0; at < this.#fields.length; at += 2) {
        headers.append(this.#fields[at] ?? "", this.#fields[at + 1] ?? "");
      }
      this.#made = new Response(this.#content as BodyInit | null, { status: this.#status, headers });
    }
    return this.#made;
  }
}
delegateToReal(LazyResponse, Response);

const defaultHeadersByRoute = () =>
  processSingleton("default headers", () => new Map<Route | undefined, HeaderList>());

/** The headers that every response of a route has, made once. */
function defaultHeaders(route: Route | undefined): HeaderList {
  const known = defaultHeadersByRoute().get(route);
  if (known) return known;
  const { appUrl, hsts } = settings();
  const retirement = route && retirementOf(route);
  const links = [`<${appUrl}${pages.policy.path}>; rel="deprecation"; type="text/html"`];
  const defaults = [
    "api-version",
    "1",
    "x-content-type-options",
    "nosniff",
    "referrer-policy",
    "no-referrer",
    "content-security-policy",
    "default-src 'none'; frame-ancestors 'none'",
  ];
  if (hsts) defaults.push("strict-transport-security", hsts);
  if (route) defaults.push(...corsHeaders(route));
  if (route?.caching?.startsWith("public")) defaults.push("vary", "API-Version");
  if (retirement) {
    const { deprecation, sunset, guideLink } = retirementHeaders(retirement, appUrl);
    defaults.push("deprecation", deprecation, "sunset", sunset);
    links.push(guideLink);
  }
  defaults.push("link", links.join(", "));
  defaultHeadersByRoute().set(route, defaults);
  return defaults;
}
