import { expect } from "vitest";
import { expectStamp } from "@/tests/support/contract";
import type { Answer, Service } from "@/tests/support/service";

type Message = { method: string; params?: Record<string, unknown>; id?: string | number };
type Options = { headers?: Record<string, string>; path?: string; from?: string };

/** Sends a body to the MCP server as JSON. */
export function post(
  service: Service,
  body: string | Buffer,
  { headers = {}, path = "/mcp", from }: Options = {},
): Promise<Answer> {
  const sent = { "Content-Type": "application/json", ...headers };
  return service.ask(path, { method: "POST", headers: sent, body, ...(from && { from }) });
}

/** Sends a message as clients up to 2025-11-25 do. */
export function postLegacy(service: Service, message: Message, options: Options = {}): Promise<Answer> {
  return post(service, JSON.stringify({ jsonrpc: "2.0", id: 1, ...message }), options);
}

const meta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};

/** Sends a message as clients of 2026-07-28 do: it is self-describing, and its headers repeat its fields. */
export function postModern(
  service: Service,
  { method, params = {}, id = 1 }: Message,
  { headers = {}, ...options }: Options = {},
): Promise<Answer> {
  const name = params.name ?? params.uri;
  const repeated = {
    "MCP-Protocol-Version": "2026-07-28",
    "Mcp-Method": method,
    ...(typeof name === "string" && { "Mcp-Name": name }),
  };
  const body = JSON.stringify({ jsonrpc: "2.0", id, method, params: { _meta: meta, ...params } });
  return post(service, body, { ...options, headers: { ...repeated, ...headers } });
}

/** Checks the headers of every MCP response, CORS for any origin included. */
export function expectMcpStamp(service: Service, answer: Answer): void {
  expectStamp(service, answer);
  expect(answer.headers["access-control-allow-origin"]).toBe("*");
  expect(answer.headers).not.toHaveProperty("access-control-allow-credentials");
  expect(answer.headers["access-control-expose-headers"]).toBe(
    [
      "RateLimit, RateLimit-Policy, RateLimit-Limit, RateLimit-Remaining, Retry-After, WWW-Authenticate, DPoP-Nonce",
      "API-Version, Deprecation, Link, Sunset, X-Request-Id",
    ].join(", "),
  );
  const { status } = answer;
  const isFresh = status === 200 || status === 304;
  expect(answer.headers["cache-control"]).toBe(isFresh ? "no-store, no-transform" : "no-store");
  expect(answer.headers).not.toHaveProperty("mcp-session-id");
}

/** Checks that a request was counted, as every POST accepted by the router is. */
export function expectCounted({ headers }: Answer, limit: number): void {
  expect(headers["ratelimit-policy"]).toBe(`"mcp";q=${limit};w=60`);
  expect(headers.ratelimit).toMatch(/^"mcp";r=\d+(;t=\d+)?$/);
  expect(headers["ratelimit-limit"]).toBe(String(limit));
  expect(headers["ratelimit-remaining"]).toMatch(/^\d+$/);
}

/** Checks that a response is this JSON-RPC error. */
export function expectRpcError(
  answer: Answer,
  { status, code, message, id = 1 }: { status: number; code: number; message?: string; id?: unknown },
): { message: string; data?: unknown } {
  expect(answer.status, answer.text).toBe(status);
  expect(answer.headers["content-type"]).toBe("application/json");
  const body = JSON.parse(answer.text);
  expect({ ...body, error: undefined }).toEqual({ jsonrpc: "2.0", id, error: undefined });
  expect(body.error.code, answer.text).toBe(code);
  if (message) expect(body.error.message).toBe(message);
  return body.error;
}
