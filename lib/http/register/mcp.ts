import { corsOfMcp } from "@/lib/http/cors";
import { documentPages } from "@/lib/http/register/pages";
import type { Route } from "@/lib/http/route";

/**
 * The MCP server: one endpoint at three paths, with one rate limit. It is not an operation: it has MCP's responses and
 * version negotiation, and ignores `API-Version`.
 */
export const mcpServer = {
  paths: ["/mcp", "/api/mcp", "/mcp/account"],
  /** For clients that ask their owner only when connecting is refused: every message needs a token. */
  accountPath: "/mcp/account",
  takesSlash: true,
  methods: ["POST", "OPTIONS"],
  /** A client that is set to the transport of 2024, or a person. */
  otherwise: {
    says: "An MCP client connects here by Streamable HTTP ('http'), not by SSE: see %s.",
    page: documentPages.mcp.path,
  },
  site: "api",
  host: "ours",
  origin: "any",
  quota: "mcp",
  takes: "mcp",
  // Proxies compress what is large, which some clients ask for and do not undo: modelcontextprotocol/python-sdk#2649.
  caching: "no-store, no-transform",
  anyOrigin: corsOfMcp,
} as const satisfies WithoutPath<Route> & { paths: readonly `/${string}`[]; accountPath: `/${string}` };

type WithoutPath<R> = R extends unknown ? Omit<R, "path"> : never;
