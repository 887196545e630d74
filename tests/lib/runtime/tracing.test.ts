import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, describe, expect, it } from "vitest";
import { parseSettings } from "@/lib/config/settings";
import { engines } from "@/tests/support/engines";
import { serve } from "@/tests/support/loopback";
import { Service } from "@/tests/support/service";
import { openShop } from "@/tests/support/shop";

type Value = { stringValue?: string; intValue?: number };
type Span = {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  attributes: { key: string; value: Value }[];
  status: { code?: number };
};

/** A collector that takes OTLP over HTTP, in JSON. */
async function startCollector() {
  const texts: string[] = [];
  const heads: string[] = [];
  const { url, stop } = await serve(async (incoming, outgoing) => {
    heads.push(`${incoming.method} ${incoming.url} ${incoming.headers.authorization}`);
    texts.push(await text(incoming));
    outgoing.writeHead(200, { "content-type": "application/json" }).end("{}");
  });
  const environment = {
    OTEL_EXPORTER_OTLP_ENDPOINT: url,
    OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer%20collector-key",
    OTEL_SERVICE_NAME: "head office",
  };
  const resources = () => texts.flatMap((sent) => JSON.parse(sent).resourceSpans);
  const spans = (): Span[] =>
    resources().flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope: { spans: Span[] }) => scope.spans));
  return { texts, heads, environment, resources, spans, stop };
}

const attributesOf = ({ attributes }: { attributes: Span["attributes"] }) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));

const traceId = "0af7651916cd43dd8448eb211c80319c";
const traceparent = (flags: string, id = traceId) => ({ traceparent: `00-${id}-b7ad6b7169203331-${flags}` });

describe.each(engines)("traces on $name", async (engine) => {
  const collector = await startCollector();
  const shop = await openShop(engine, { ...collector.environment, SIGN_IN: "local", LOG_LEVEL: "info" });
  const { service } = shop;
  const secrets = ["buyer-1@example.com", "in-a-query", "in-a-path", "collector-key"];
  afterAll(collector.stop);

  const buyer = await shop.admit("--plan", "hobby");
  const token = await service.token(buyer.email);
  secrets.push(token);
  const headers = { Authorization: `Bearer ${token}` };
  await service.ask("/api/entitlement?x=in-a-query", { headers: { ...headers, ...traceparent("01") } });
  await service.ask("/api/health", { headers: traceparent("00", "1".repeat(32)) });
  await service.ask("/api/health", { headers: { traceparent: `00-${"0".repeat(32)}-b7ad6b7169203331-01` } });
  await service.ask("/in-a-path/x", { method: "PUT", headers: traceparent("01", "2".repeat(32)) });
  const session = await shop.begin(buyer);
  secrets.push(session);
  await shop.close();
  const spans = collector.spans();

  it("reach the collector as the standard variables say", () => {
    expect([...new Set(collector.heads)]).toEqual(["POST /v1/traces Bearer collector-key"]);
    const [resource] = collector.resources();
    expect(attributesOf(resource.resource)).toMatchObject({
      "service.name": "head office",
      "service.version": expect.stringMatching(/^\d+\.\d+\.\d+$/),
    });
  });

  it("have a request in the trace of its client, and the store's queries as its parts", () => {
    const [request, ...others] = spans.filter((span) => span.traceId === traceId && span.kind === 2);
    expect(others).toEqual([]);
    expect(request).toMatchObject({
      name: "GET /api/entitlement",
      parentSpanId: "b7ad6b7169203331",
      status: { code: 0 },
    });
    expect(attributesOf(request as Span)).toEqual({
      "http.request.method": "GET",
      "corner_office.request_id": expect.any(String),
      "http.route": "/api/entitlement",
      "url.path": "/api/entitlement",
      "http.response.status_code": 200,
    });
    const queries = spans.filter((span) => span.traceId === traceId && span.kind === 3);
    expect(queries.map(({ parentSpanId }) => parentSpanId)).toContain(request?.spanId);
    const names = queries.map(({ name }) => name);
    expect(names).toContain("select plans");
    const plans = queries[names.indexOf("select plans")];
    expect(attributesOf(plans as Span)).toEqual({
      "db.system.name": engine.name === "PostgreSQL" ? "postgresql" : "sqlite",
      "db.operation.name": "select",
      "db.collection.name": "plans",
    });
  });

  it("leave out what the client does not sample, and begin a new one for a traceparent that is none", () => {
    expect(spans.filter((span) => span.traceId === "1".repeat(32))).toEqual([]);
    const health = spans.filter(({ name }) => name === "GET /api/health");
    expect(health).toHaveLength(1);
    expect(health[0]?.traceId).toMatch(/^(?!0{32})[\da-f]{32}$/);
    expect(health[0]?.parentSpanId).toBeUndefined();
  });

  it("have calls to other services by their host", () => {
    const checkout = spans.find(({ name }) => name === "POST /home/checkout");
    const call = spans.find(
      ({ name, parentSpanId }) => name === "POST 127.0.0.1" && parentSpanId === checkout?.spanId,
    );
    expect(attributesOf(call as Span)).toEqual({
      "http.request.method": "POST",
      "server.address": "127.0.0.1",
      "server.port": expect.any(Number),
      "http.response.status_code": 200,
    });
    const { port } = new URL(collector.environment.OTEL_EXPORTER_OTLP_ENDPOINT);
    const asked = spans.map((span) => attributesOf(span)["server.port"]);
    expect(asked, "what sends the traces is not traced").not.toContain(Number(port));
  });

  it("say nothing that someone sent", () => {
    const unknown = spans.find((span) => span.traceId === "2".repeat(32)) as Span;
    expect(unknown.name).toBe("PUT /*");
    for (const secret of secrets) for (const sent of collector.texts) expect(sent).not.toContain(secret);
    expect(service.log).not.toContain("collector-key");
  });

  it("have the trace of a request's log line", () => {
    const traced = new Set(spans.map((span) => span.traceId));
    const lines = service.log.split("\n").filter((line) => line.includes('"path":"/home/checkout"'));
    expect(lines.map((line) => traced.has(JSON.parse(line).traceId))).toEqual(lines.map(() => true));
  });
});

describe("without a collector", () => {
  it("the service works, and says once that traces are lost", async () => {
    const service = await Service.start({
      OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9",
      OTEL_EXPORTER_OTLP_TIMEOUT: "500",
    });
    for (let n = 0; n < 3; n++) expect((await service.ask("/api/health")).status).toBe(200);
    expect(await service.stop()).toBe(0);
    expect(service.log.split("traces could not be sent")).toHaveLength(2);
  });

  it.each([{}, { OTEL_SDK_DISABLED: "true" }])("nothing is sent with %j alone", async (environment) => {
    const collector = await startCollector();
    const address = "OTEL_SDK_DISABLED" in environment ? collector.environment : {};
    const service = await Service.start({ ...environment, ...address });
    await service.ask("/api/health");
    expect(await service.stop()).toBe(0);
    expect(collector.heads).toEqual([]);
    await collector.stop();
  });

  it("no part of OpenTelemetry is loaded", () => {
    const seen = new Set<string>();
    const visit = (file: string): void => {
      if (seen.has(file)) return;
      seen.add(file);
      const code = readFileSync(file, "utf8");
      for (const [, imported = ""] of code.matchAll(/(?:from|^import)\s*"(\.{1,2}\/[^"]+\.js)"/gm))
        visit(join(dirname(file), imported));
    };
    visit("dist/server/program.js");
    expect(seen.size).toBeGreaterThan(5);
    for (const file of seen) expect(readFileSync(file, "utf8"), file).not.toContain("OTLPTraceExporter");
  });
});

it("a setting of traces that cannot be is refused by name", () => {
  const refused = (given: object) => () =>
    parseSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318", ...given });
  expect(refused({ OTEL_EXPORTER_OTLP_ENDPOINT: "collector:4318" })).toThrow(
    /^OTEL_EXPORTER_OTLP_ENDPOINT: must be an http\(s\) address like http:\/\/collector:4318$/,
  );
  expect(refused({ OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" })).toThrow(/^OTEL_EXPORTER_OTLP_PROTOCOL: grpc /);
  expect(refused({ OTEL_TRACES_SAMPLER: "jaeger_remote" })).toThrow(
    /^OTEL_TRACES_SAMPLER: must be one of always_on, parentbased_always_on, /,
  );
  expect(refused({ OTEL_TRACES_SAMPLER: "traceidratio", OTEL_TRACES_SAMPLER_ARG: "1.5" })).toThrow(
    /^OTEL_TRACES_SAMPLER_ARG: must be a number from 0 to 1$/,
  );
});
