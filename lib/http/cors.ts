/*
 * What scripts on other sites may send to us, and read of our answers (CORS). Everything else is closed to them.
 */

const maxAsked = 32;

/**
 * The header names that a preflight allows: the documented ones and those that it asks for, up to 32. Clients send what
 * their next version or their developer adds; no cookie comes with it, and we read no header that we do not know.
 */
export function allowNames(documented: string, asked: string | null): string {
  const known = new Set(documented.toLowerCase().split(", "));
  const others = (asked ?? "")
    .split(",")
    .map((name) => name.trim())
    .filter((name) => /^[\w!#$%&'*+.^`|~-]{1,64}$/.test(name) && !known.has(name.toLowerCase()));
  return [documented, ...new Set(others.slice(0, maxAsked))].join(", ");
}

const stampedHeaders = "API-Version, Deprecation, Link, Sunset, X-Request-Id";

export const corsOfBanner = { sends: "API-Version, X-Request-Id", reads: stampedHeaders };

export const sentByMcpClients = "Authorization, DPoP, Content-Type, MCP-Protocol-Version";

export const corsOfMcp = {
  sends: [
    "Authorization, DPoP, Content-Type, Accept, MCP-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id",
    "Last-Event-ID, API-Version, X-Request-Id, traceparent, tracestate, baggage",
  ].join(", "),
  reads: [
    "RateLimit, RateLimit-Policy, RateLimit-Limit, RateLimit-Remaining, Retry-After, WWW-Authenticate, DPoP-Nonce",
    stampedHeaders,
  ].join(", "),
};
