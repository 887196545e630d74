import { expect } from "vitest";
import { inSeconds } from "@/lib/config/durations";
import { type ErrorCode, errorCatalogue } from "@/lib/http/errors";
import { mcpServer } from "@/lib/http/register/mcp";
import { type Operation, operations, type Status, schemaOf } from "@/lib/http/register/operations";
import type { Answer, Service } from "@/tests/support/service";

/** Every address of the API and the MCP server, with its `Allow` and the `Cache-Control` of a 200. */
export const addresses = [
  ...Object.values<Operation>(operations),
  ...mcpServer.paths.map((path) => ({ ...mcpServer, path })),
].map(({ path, methods, caching }) => ({ path, methods: methods.map(String), caching }));

/** Checks the headers of an operation's response, and its body against the register. Returns the body. */
export function expectAnswer(
  service: Service,
  operation: Operation,
  answer: Answer,
  status: Status,
): unknown {
  expect(answer.status, answer.text).toBe(status);
  expectStamp(service, answer);
  expect(answer.headers["cache-control"]).toBe(status === 200 ? operation.caching : "no-store");
  const isText = answer.headers["content-type"] === "text/plain; charset=utf-8";
  if (!isText) expect(answer.headers["content-type"]).toBe("application/json");
  const body = isText ? answer.text : JSON.parse(answer.text);
  expect([200, ...Object.keys(operation.codes).map(Number)], "the register documents it").toContain(status);
  expect(schemaOf(operation, status).parse(body), "the register documents this answer").toEqual(body);
  return body;
}

/** Checks that a response is this refusal, in the error shape, with the default texts of its code or these. */
export function expectRefusal(
  service: Service,
  answer: Answer,
  errorParts: { status: number; code: ErrorCode; message?: string; hint?: string; otherFields?: object },
): void {
  const { status, code, otherFields } = errorParts;
  expect(answer.status, answer.text).toBe(status);
  expectStamp(service, answer);
  expect(answer.headers["cache-control"]).toBe("no-store");
  expect(answer.headers["content-type"]).toBe("application/json");
  const { message, hint } = { ...errorCatalogue[code], ...errorParts };
  const docs = `${service.url}/docs/api/errors#${code}`;
  expect(JSON.parse(answer.text)).toEqual({ ...otherFields, error: { code, message, hint, docs } });
}

/** Checks that a response refuses a client that has spent this quota, and says for how long. */
export function expectQuotaSpent(
  service: Service,
  answer: Answer,
  quota: "health" | "mcp",
  requests: number,
): void {
  const { headers } = answer;
  const wait = Number(headers["retry-after"]);
  const message = `Too many requests: ${requests} are allowed in 60 seconds, so wait ${inSeconds(wait)}.`;
  expectRefusal(service, answer, { status: 429, code: "unavailable", message });
  expect(wait).toEqual(between(1, 60));
  expect(headers["ratelimit-policy"]).toBe(`"${quota}";q=${requests};w=60`);
  expect(headers.ratelimit).toBe(`"${quota}";r=0;t=${wait}`);
  expect(headers["ratelimit-limit"]).toBe(String(requests));
  expect(headers["ratelimit-remaining"]).toBe("0");
}

/** Checks the headers that `finalizeResponse` sets on every response under `/api`. */
export function expectStamp(service: Service, { headers }: Pick<Answer, "headers">): void {
  expect(headers["api-version"]).toBe("1");
  expect(headers.link).toBe(`<${service.url}/docs/api/policy>; rel="deprecation"; type="text/html"`);
  // A shared cache would send the request id to other clients.
  if (headers["cache-control"]?.startsWith("public")) expect(headers).not.toHaveProperty("x-request-id");
  else expect(headers["x-request-id"]).toMatch(/^[\w.:-]{1,128}$/);
  expect(headers["x-content-type-options"]).toBe("nosniff");
  expect(headers["referrer-policy"]).toBe("no-referrer");
  expect(headers["content-security-policy"]).toBe("default-src 'none'; frame-ancestors 'none'");
}

/** Matches an integer in this range, bounds included: values with jitter. */
export function between(least: number, most: number) {
  return {
    asymmetricMatch: (value: unknown) =>
      Number.isInteger(value) && Number(value) >= least && Number(value) <= most,
    toString: () => `a whole number from ${least} to ${most}`,
  };
}
