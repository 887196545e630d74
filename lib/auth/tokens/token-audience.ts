import { settings } from "@/lib/config/settings";
import { mcpServer } from "@/lib/http/register/mcp";

/** The resources that a token can be bound to: the HTTP API, or the MCP server, which has three addresses. */
export type Resource = "api" | "mcp";

/** Our URL alone names every resource. Clients that normalize it add a slash (RFC 9728 §3.1). */
const wholeService = ["", "/"];

/** The addresses that name a resource in the `aud` of a token (RFC 8707 §2). */
export function addressesOf(resource: Resource): string[] {
  const paths = { api: ["/api"], mcp: mcpServer.paths }[resource];
  return [...paths, ...wholeService].map((path) => settings().appUrl + path);
}

/** Whether a token with this `aud` is valid for a resource. A token without one is valid everywhere. */
export function isAudience(audience: readonly string[] | undefined, resource: Resource | undefined): boolean {
  if (!audience) return true;
  return resource !== undefined && addressesOf(resource).some((address) => audience.includes(address));
}
