import { settings } from "@/lib/config/settings";
import type { ApiError } from "@/lib/http/errors";
import { delegateToReal, type Lazy } from "@/lib/http/lazy-object";
import type { ApiRoute } from "@/lib/http/operations";
import { pages } from "@/lib/http/pages";
import { logRequest, type RequestContext } from "@/lib/http/request-context";
import { retirementHeaders, retirementOf } from "@/lib/http/retirement";
import { processSingleton } from "@/lib/process-singleton";

/** Names and values in turn, as Node takes them: an object with as many computed keys takes 40 times as long. */
export type HeaderList = readonly string[];

/** What a room or a refusal has to say, before the way out makes a Response of it. */
export type Answer = {
  status: number;
  /** An object goes out as JSON, a string as plain text, `null` as no content. */
  body: object | string | null;
  /** The media type of a string that is not plain text. */
  mediaType?: string;
  headers?: HeaderList;
};

/**
 * The way out: makes the Response of an answer, stamps it and logs the visit. Every answer under `/api` and
 * `/mcp` leaves here.
 *
 * @param address - the address it belongs to; none for a 404
 */
export function finalizeResponse(
  address: ApiRoute | undefined,
  context: RequestContext,
  answer: Answer,
): Response {
  const caching = answer.status === 200 && address ? address.caching : "no-store";
  const defaults = [
    ...defaultHeaders(address),
    "cache-control",
    caching,
    ...requestIdHeader(context, caching),
  ];
  logRequest(context, answer.status);
  return toResponse(context.method, answer, defaults);
}

/** The request's id, but on what shared caches keep: who sent it is nobody else's business. */
export function requestIdHeader({ requestId }: RequestContext, caching: string): HeaderList {
  return caching.startsWith("public") ? [] : ["x-request-id", requestId];
}

/** The Response of an answer. HEAD gets its headers alone (RFC 9110 §9.3.2). */
export function toResponse(
  method: string,
  { status, body, mediaType, headers = [] }: Answer,
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

/** An object as JSON; one that is frozen is written once. */
function toJson(body: object) {
  const known = frozenJson.get(body);
  if (known) return known;
  const written = measure(JSON.stringify(body), "application/json");
  if (Object.isFrozen(body)) frozenJson.set(body, written);
  return written;
}

/** The answer to a refusal: its status, body and headers, and those gathered before it was thrown. */
export function errorParts(error: ApiError, gathered: HeaderList = []): Answer {
  return {
    status: error.status,
    body: error.toJSON(),
    headers: [...gathered, ...Object.entries(error.headers).flat()],
  };
}

/** A Response whose parts are at hand: the front server sends them as they are, a platform reads a Response. */
export class LazyResponse implements Lazy<Response> {
  readonly #status: number;
  readonly #fields: HeaderList;
  readonly #content: string | null;
  #made: Response | undefined;

  constructor(status: number, fields: HeaderList, content: string | null) {
    this.#status = status;
    this.#fields = fields;
    this.#content = content;
  }

  get status(): number {
    return this.#status;
  }

  /** All there is to send; `undefined` once the real one was asked for, which may have been changed or read. */
  get parts(): { fields: HeaderList; content: string | null } | undefined {
    return this.#made ? undefined : { fields: this.#fields, content: this.#content };
  }

  get real(): Response {
    if (!this.#made) {
      const headers = new Headers();
      for (let at = 0; at < this.#fields.length; at += 2) {
        headers.append(this.#fields[at] ?? "", this.#fields[at + 1] ?? "");
      }
      this.#made = new Response(this.#content, { status: this.#status, headers });
    }
    return this.#made;
  }
}
delegateToReal(LazyResponse, Response);

const defaultHeadersByRoute = () =>
  processSingleton("stamps", () => new Map<ApiRoute | undefined, HeaderList>());

/** The headers that do not vary between the answers of an address, made once. */
function defaultHeaders(address: ApiRoute | undefined): HeaderList {
  const known = defaultHeadersByRoute().get(address);
  if (known) return known;
  const { appUrl, hsts } = settings();
  const { anyOrigin, caching } = address ?? {};
  const retirement = address && retirementOf(address);
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
  if (anyOrigin) {
    defaults.push("access-control-allow-origin", "*", "access-control-expose-headers", anyOrigin.reads);
  }
  if (caching?.startsWith("public")) defaults.push("vary", "API-Version");
  if (retirement) {
    const { deprecation, sunset, guideLink } = retirementHeaders(retirement, appUrl);
    defaults.push("deprecation", deprecation, "sunset", sunset);
    links.push(guideLink);
  }
  defaults.push("link", links.join(", "));
  defaultHeadersByRoute().set(address, defaults);
  return defaults;
}
