/*
 * What scripts on other sites may send to us, and read of our answers (CORS). Everything else is closed to them.
 */

const stampedHeaders = "API-Version, Deprecation, Link, Sunset, X-Request-Id";

export const corsOfBanner = { sends: "API-Version, X-Request-Id", reads: stampedHeaders };

export const corsOfMcp = {
  sends: [
    "Authorization, Content-Type, Accept, MCP-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id",
    "Last-Event-ID, API-Version, X-Request-Id, traceparent, tracestate, baggage",
  ].join(", "),
  reads: [
    "RateLimit, RateLimit-Policy, RateLimit-Limit, RateLimit-Remaining, Retry-After, WWW-Authenticate",
    stampedHeaders,
  ].join(", "),
};
