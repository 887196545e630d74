import { randomUUID } from "node:crypto";
import type { Readable } from "node:stream";
import type { SpanContext } from "@opentelemetry/api";
import type { Route } from "@/lib/http/route";
import { type Circles, Client, circlesOf, type KnownBrowser } from "@/lib/rate-limit/client";

/** The header fields of a request, as far as we read them. */
export type SentHeaders = Iterable<[string, string]> & {
  get: (name: Lowercase<string>) => string | null;
  has: (name: Lowercase<string>) => boolean;
};

/** What a request was sent as: to our own server, or to a platform. */
export type Source = {
  readonly method: string;
  /** The path and the query, as sent. */
  readonly target: string;
  readonly headers: SentHeaders;
  /** The address at the other end of the connection, if our server owns that. */
  readonly peer: string | undefined;
  /** Aborts if the client leaves before its answer is sent. */
  readonly signal: AbortSignal;
  /** Its body, which the client may send from now on. The stream may say itself whether its pieces are too small. */
  openBody: () => (Readable & { hasTooSmallPieces?: boolean }) | undefined;
};

/** One of the sites of this service. */
export type Site = {
  /** Its origin. */
  readonly url: string;
  /** The route at a path, if it is enabled. */
  routeAt: (path: string) => Route | undefined;
  /** The version in the addresses of its client files, if it has any. */
  clientVersion?: string;
  /** What names its addresses in the log, if that is not the public site. */
  loggedAs?: "office" | "backend";
  /** Whether its requests may come through proxies; otherwise the peer is the client, whatever stands in front. */
  isProxied: boolean;
  /** Whether a page says that there is nothing at an unknown address; otherwise such a request is refused in JSON. */
  hasPageFor: (request: Pick<Source, "method"> & { path: string }) => boolean;
};

export const maxRequestIdCharacters = 128;
/** The `X-Request-Id`s that we accept from a client. */
export const requestIdPattern = new RegExp(`^[\\w.:-]{1,${maxRequestIdCharacters}}$`);

/**
 * A `traceparent` and its trace id (W3C Trace Context §3.2). Version 00 has no more than these fields; later versions may
 * append others, and `ff` is not a version.
 */
const traceparentPattern =
  /^(?!ff|00.{54})[\da-f]{2}-(?!0+-)([\da-f]{32})-(?!0+-)([\da-f]{16})-([\da-f]{2})(?:-[^,]*)?$/;

const noBody = Buffer.alloc(0);

/** A request on its way through the router and the checks to its handler. What it is, is worked out once. */
export class Call {
  readonly nowMs = Date.now();
  readonly startedAtMs = performance.now();
  readonly method: string;
  readonly target: string;
  /** As sent, without its query. Any other spelling is another address. */
  readonly path: string;
  readonly route: Route | undefined;
  headers: SentHeaders;
  readonly peer: string | undefined;
  /** Its own `X-Request-Id` if that is valid, else a new one. */
  readonly requestId: string;
  /** The trace that the request belongs to: its client's, or our own if it is traced. */
  traceId: string | undefined;
  /** The account that it is for, once that is known. */
  subject: string | undefined;
  /** The body of a POST, up to the limit of its route, once it was read. */
  body: Buffer = noBody;
  /** Its browser, if that has signed in before to an account that still exists. */
  browser: KnownBrowser | undefined;
  /** Who sent it, as the check of its credential has found. */
  who: unknown;
  /** What its answer says of its quota. */
  quotaHeaders: readonly string[] = [];
  private sender: Client | undefined;
  private around: Circles | undefined;
  private parsedUrl: URL | undefined;
  private parsedBody: URLSearchParams | undefined;
  private done: Map<unknown, unknown> | undefined;

  /** @param isOwn - a request of our own, for a page that is kept: it is not logged */
  constructor(
    private readonly source: Source,
    readonly site: Site,
    readonly isOwn = false,
  ) {
    const { method, target, headers, peer } = source;
    const query = target.indexOf("?");
    this.method = method;
    this.target = target;
    this.path = query < 0 ? target : target.slice(0, query);
    this.route = site.routeAt(this.path);
    this.headers = headers;
    this.peer = peer;
    const sent = headers.get("x-request-id");
    this.requestId = sent && requestIdPattern.test(sent) ? sent : randomUUID();
    this.traceId = parseTraceparent(headers.get("traceparent"))?.traceId;
  }

  get client(): Client {
    this.sender ??= new Client(this.headers, this.peer, this.site.isProxied);
    return this.sender;
  }

  /** The circles by which limits and turns share what all share. They are known once its browser is. */
  get circles(): Circles {
    this.around ??= circlesOf(this.client, this.browser);
    return this.around;
  }

  get signal(): AbortSignal {
    return this.source.signal;
  }

  get url(): URL {
    this.parsedUrl ??= new URL(this.site.url + this.target);
    return this.parsedUrl;
  }

  /** The query with its question mark, as sent; empty without one. */
  get search(): string {
    return this.target.slice(this.path.length);
  }

  get query(): URLSearchParams {
    // Most have none, and need no URL for it.
    return this.search ? this.url.searchParams : new URLSearchParams();
  }

  get fields(): URLSearchParams {
    this.parsedBody ??= new URLSearchParams(this.body.toString());
    return this.parsedBody;
  }

  /** Reads a trimmed field of a form. */
  get field(): (name: string) => string {
    return (name) => this.fields.get(name)?.trim() ?? "";
  }

  /** Its body as a stream, which the client may send from now on. */
  openBody(): ReturnType<Source["openBody"]> {
    return this.source.openBody();
  }

  /** Goes on as if these headers had been sent: what was found out by the others does not count. */
  goOnWith(headers: SentHeaders): void {
    this.headers = headers;
    this.done = undefined;
  }

  /** What this work finds out about this call. It is done the first time alone. */
  once<Found>(work: (call: Call) => Found): Found {
    this.done ??= new Map();
    if (!this.done.has(work)) this.done.set(work, work(this));
    return this.done.get(work) as Found;
  }
}

const goesOn = new AbortController().signal;

/** What a `traceparent`, which may be anything that a client sent, says of its sender's span; undefined if it is malformed. */
export function parseTraceparent(sent: unknown): SpanContext | undefined {
  const [, traceId, spanId, flags = ""] = (typeof sent === "string" && traceparentPattern.exec(sent)) || [];
  return traceId && spanId ? { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1 } : undefined;
}

/** A GET of our own, or a request of which nothing but its first line could be read. */
export function sourceOf(method: string, target: string, headers: SentHeaders = new Headers()): Source {
  return { method, target, headers, peer: undefined, signal: goesOn, openBody: () => undefined };
}
