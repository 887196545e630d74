import { AsyncLocalStorage } from "node:async_hooks";
import type { Attributes, Span, Tracer } from "@opentelemetry/api";

/** A span of a request, as its caller sees it. */
export type RequestSpan = {
  traceId: string;
  /** Runs the work of the request: what it asks of the store and of others is traced as its part. */
  run: <T>(work: () => T) => T;
  end: (route: string, status: number) => void;
};

let started: Tracing | undefined;

/** What traces requests; undefined unless it is on. */
export const tracing = (): Tracing | undefined => started;

/**
 * Traces from now on. `parentOf` makes the context of a span: that of a request's `traceparent`, or of the span that it is
 * part of.
 */
export function startTracing(tracer: Tracer, parentOf: ParentOf): Tracing {
  started = new Tracing(tracer, parentOf);
  return started;
}

type ParentOf = (of: { traceparent: string | null } | { span: Span }) => Parameters<Tracer["startSpan"]>[2];

/* The numbers of OpenTelemetry, whose packages are not loaded with this file. */
const server = 1;
const client = 2;
const error = 2;

/**
 * Makes spans of requests, queries and calls to other services (OpenTelemetry's semantic conventions for HTTP and databases). No
 * attribute has what a client or a person sent: addresses are those of the registers, queries are named by verb and table,
 * and calls by their host.
 */
export class Tracing {
  private readonly current = new AsyncLocalStorage<Span | undefined>();

  constructor(
    private readonly tracer: Tracer,
    private readonly parentOf: ParentOf,
  ) {}

  /** Begins the span of a request. */
  beginRequest(method: string, traceparent: string | null, requestId: string): RequestSpan {
    const attributes = { "http.request.method": method, "corner_office.request_id": requestId };
    const span = this.tracer.startSpan(method, { kind: server, attributes }, this.parentOf({ traceparent }));
    return {
      traceId: span.spanContext().traceId,
      run: (work) => this.current.run(span, work),
      end: (route, status) => {
        span.updateName(`${method} ${route}`);
        span.setAttributes({ "http.route": route, "url.path": route, "http.response.status_code": status });
        this.end(span, status >= 500 ? String(status) : undefined);
      },
    };
  }

  /** Traces a query that has just ended. */
  recordQuery(system: string, sql: string, ms: number, hasFailed: boolean): void {
    if (!this.current.getStore()) return;
    const [verb = "query"] = sql.trimStart().toLowerCase().split(/\W/, 1);
    const [, table] = /\b(?:from|into|update) "?(\w+)/i.exec(withoutParentheses(sql)) ?? [];
    const name = table ? `${verb} ${table}` : verb;
    const span = this.beginPart(name, Date.now() - ms, {
      "db.system.name": system,
      "db.operation.name": verb,
      ...(table && { "db.collection.name": table }),
    });
    if (span) this.end(span, hasFailed ? "failed" : undefined);
  }

  /** Begins the span of a call to another service; undefined outside of a request. */
  beginCall(method: string, url: URL): Span | undefined {
    return this.beginPart(`${method} ${url.hostname}`, Date.now(), {
      "http.request.method": method,
      "server.address": url.hostname,
      "server.port": Number(url.port) || (url.protocol === "https:" ? 443 : 80),
    });
  }

  /** Ends a span. The batch in which it waits is sent as part of no request. */
  end(span: Span, failure?: string): void {
    if (failure !== undefined) span.setStatus({ code: error }).setAttribute("error.type", failure);
    this.current.run(undefined, () => span.end());
  }

  private beginPart(name: string, startTime: number, attributes: Attributes): Span | undefined {
    const span = this.current.getStore();
    return (
      span && this.tracer.startSpan(name, { kind: client, startTime, attributes }, this.parentOf({ span }))
    );
  }
}

/** A query without its subqueries, which name other tables. */
function withoutParentheses(sql: string): string {
  const shorter = sql.replace(/\([^()]*\)/g, "");
  return shorter.length < sql.length ? withoutParentheses(shorter) : sql;
}
