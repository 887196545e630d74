import { settings } from "@/lib/config/settings";
import { mcpServer } from "@/lib/http/operations";

/** What a token can be bound to: the HTTP API, or the MCP server, which is one behind both of its addresses. */
export type Resource = "api" | "mcp";

/** The addresses that name a resource in the `aud` of a token (RFC 8707 §2). */
export function addressesOf(resource: Resource): string[] {
  const paths = { api: ["/api"], mcp: mcpServer.paths }[resource];
  return paths.map((path) => settings().appUrl + path);
}

/** Whether a token that is bound to these addresses may be used here; one that is bound to none may be used anywhere. */
export function isAudience(audience: readonly string[] | undefined, resource: Resource | undefined): boolean {
  if (!audience) return true;
  return resource !== undefined && addressesOf(resource).some((address) => audience.includes(address));
}
