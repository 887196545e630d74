import { subscribe } from "node:diagnostics_channel";
import type { ClientRequest, IncomingMessage } from "node:http";
import { ROOT_CONTEXT, type Span, trace } from "@opentelemetry/api";
import { setGlobalErrorHandler } from "@opentelemetry/core";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { detectResources, envDetector, resourceFromAttributes } from "@opentelemetry/resources";
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import type { Settings } from "@/lib/config/settings";
import { parseTraceparent } from "@/lib/http/call";
import { log } from "@/lib/runtime/log";
import { withTimeout } from "@/lib/runtime/timeout";
import { startTracing, type Tracing } from "@/lib/runtime/tracing";
import { version } from "@/package.json";

const toldEveryMs = 60_000; // 1 minute
const endsWithinMs = 2000;

/**
 * Sends traces by OTLP over HTTP. What the settings do not name, the packages read from the environment by OpenTelemetry's own
 * names.
 *
 * @returns what sends the last ones
 */
export function openTracing({
  sampler,
  ratio,
  environment,
}: NonNullable<Settings["tracing"]>): () => Promise<void> {
  // A value may have come from a file.
  Object.assign(process.env, environment);
  let toldAtMs = Number.NEGATIVE_INFINITY;
  const tell = (failure: unknown) => {
    if (performance.now() - toldAtMs < toldEveryMs) return;
    toldAtMs = performance.now();
    log().warn(
      { because: failure instanceof Error ? failure.message : "unknown" },
      "traces could not be sent",
    );
  };
  setGlobalErrorHandler(tell);
  const own = resourceFromAttributes({ "service.name": "corner-office", "service.version": version });
  const provider = new TracerProvider({
    resource: own.merge(detectResources({ detectors: [envDetector] })),
    sampler: makeSampler(sampler, ratio),
    spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter() })],
  });
  const tracing = startTracing(provider.getTracer("corner-office", version), (of) => {
    if ("span" in of) return trace.setSpan(ROOT_CONTEXT, of.span);
    const parent = parseTraceparent(of.traceparent);
    return parent ? trace.setSpanContext(ROOT_CONTEXT, { ...parent, isRemote: true }) : ROOT_CONTEXT;
  });
  traceCalls(tracing);
  return () => withTimeout(endsWithinMs, provider.shutdown()).catch(tell);
}

function makeSampler(name: string, ratio: number): Sampler {
  const root = name.endsWith("always_off")
    ? new AlwaysOffSampler()
    : name.endsWith("traceidratio")
      ? new TraceIdRatioBasedSampler(ratio)
      : new AlwaysOnSampler();
  return name.startsWith("parentbased") ? new ParentBasedSampler({ root }) : root;
}

type UndiciRequest = { origin: string; method: string };

/** Traces calls to other services where Node says of them: those of `fetch` and those of `node:http`. */
function traceCalls(tracing: Tracing): void {
  const spans = new WeakMap<object, Span>();
  const begin = (request: object, method: string, origin: string) => {
    const span = URL.canParse(origin) && tracing.beginCall(method, new URL(origin));
    if (span) spans.set(request, span);
  };
  const answered = (request: object, status: number) => {
    const span = spans.get(request);
    span?.setAttribute("http.response.status_code", status);
    end(request, status >= 400 ? String(status) : undefined);
  };
  const end = (request: object, failure?: string) => {
    const span = spans.get(request);
    if (span) tracing.end(span, failure);
    spans.delete(request);
  };
  const on = <Message>(channel: string, take: (message: Message) => void) =>
    subscribe(channel, (message) => take(message as Message));
  type OfUndici = { request: UndiciRequest; response: { statusCode: number }; error: Error };
  on<OfUndici>("undici:request:create", ({ request }) =>
    begin(request, request.method, String(request.origin)),
  );
  on<OfUndici>("undici:request:headers", ({ request, response }) => answered(request, response.statusCode));
  on<OfUndici>("undici:request:error", ({ request, error }) => end(request, error.name));
  type OfHttp = { request: ClientRequest; response: IncomingMessage; error: Error };
  on<OfHttp>("http.client.request.created", ({ request }) =>
    begin(request, request.method, `${request.protocol}//${request.getHeader("host")}`),
  );
  on<OfHttp>("http.client.response.finish", ({ request, response }) =>
    answered(request, response.statusCode ?? 0),
  );
  on<OfHttp>("http.client.request.error", ({ request, error }) => end(request, error.name));
}
