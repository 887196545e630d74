import type { Environment } from "@/lib/config/env-files";

/** The settings of traces: OpenTelemetry's own names. */
export const tracingNames = [
  "OTEL_EXPORTER_OTLP_ENDPOINT",
  "OTEL_EXPORTER_OTLP_HEADERS",
  "OTEL_EXPORTER_OTLP_PROTOCOL",
  "OTEL_SERVICE_NAME",
  "OTEL_TRACES_SAMPLER",
  "OTEL_TRACES_SAMPLER_ARG",
  "OTEL_SDK_DISABLED",
] as const;

const samplers = ["always_on", "always_off", "traceidratio"].flatMap((name) => [name, `parentbased_${name}`]);

/** Warns of the port of another protocol, to which one address for all of a company's services often leads. */
export const warnOfGrpcPort = (environment: Readonly<Record<string, string | undefined>>): string[] =>
  URL.parse(environment.OTEL_EXPORTER_OTLP_ENDPOINT ?? "")?.port === "4317"
    ? [
        "OTEL_EXPORTER_OTLP_ENDPOINT: 4317 is a collector's port for gRPC, which is not spoken here: HTTP has 4318",
      ]
    : [];

/** What is traced, and the settings as given; undefined if nothing is. Adds to the faults. */
export function parseTracing(given: Environment, faults: string[]) {
  const of = (name: (typeof tracingNames)[number]) => given[name]?.trim() || undefined;
  const endpoint = of("OTEL_EXPORTER_OTLP_ENDPOINT");
  if (!endpoint || of("OTEL_SDK_DISABLED")?.toLowerCase() === "true") return undefined;
  const fault = (name: (typeof tracingNames)[number], words: string) => void faults.push(`${name}: ${words}`);
  if (!URL.canParse(endpoint) || !/^https?:$/.test(new URL(endpoint).protocol))
    fault("OTEL_EXPORTER_OTLP_ENDPOINT", "must be an http(s) address like http://collector:4318");
  if (of("OTEL_EXPORTER_OTLP_PROTOCOL") === "grpc")
    fault(
      "OTEL_EXPORTER_OTLP_PROTOCOL",
      "grpc is not spoken here: use http/json and the collector's port for HTTP, 4318",
    );
  const sampler = of("OTEL_TRACES_SAMPLER")?.toLowerCase() ?? "parentbased_always_on";
  if (!samplers.includes(sampler)) fault("OTEL_TRACES_SAMPLER", `must be one of ${samplers.join(", ")}`);
  const ratio = Number(of("OTEL_TRACES_SAMPLER_ARG") ?? 1);
  if (!(ratio <= 1) || ratio < 0) fault("OTEL_TRACES_SAMPLER_ARG", "must be a number from 0 to 1");
  const environment = Object.fromEntries(
    tracingNames.flatMap((name) => (of(name) === undefined ? [] : [[name, of(name)]])),
  );
  return { sampler, ratio, environment };
}
