import { sentByMcpClients } from "@/lib/http/cors";
import { type Route, read } from "@/lib/http/route";

const endpoint = {
  methods: ["POST", "OPTIONS"],
  origin: "any",
  limit: "exchanges",
  takes: "form",
  under: ["local", "clerk"],
  anyOrigin: { sends: sentByMcpClients, reads: "Retry-After, WWW-Authenticate, DPoP-Nonce" },
} as const;

/** The endpoints of the authorization server (RFC 6749, RFC 8628, RFC 7009, RFC 7591). */
export const connectEndpoints = {
  authorization: { path: "/oauth/authorize", methods: read, limit: "connect", under: ["local", "clerk"] },
  /** Where the browser continues after the owner has answered. */
  resume: { path: "/oauth/resume", methods: read, limit: "exchanges", under: ["local", "clerk"] },
  token: { path: "/oauth/token", ...endpoint },
  /**
   * The same, where clients look for it that have read no metadata (MCP 2025-03-26, Authorization §2.3.3): those in Python
   * renew there after a restart, and else ask their owner again (modelcontextprotocol/python-sdk#3240).
   */
  guessedToken: { path: "/token", ...endpoint },
  device: { path: "/oauth/device", ...endpoint, limit: "connect" },
  revocation: { path: "/oauth/revoke", ...endpoint },
  registration: { path: "/oauth/register", ...endpoint, limit: "registrations", onlyWithRegistration: true },
} as const satisfies Record<string, Route>;

/** Whether a path is that of the token endpoint. */
export const isTokenPath = (path: string) =>
  path === connectEndpoints.token.path || path === connectEndpoints.guessedToken.path;
