import { mcpServer, operations } from "@/lib/api/operations";
import { publish } from "@/lib/docs/publish";
import { settings } from "@/lib/settings/settings";

const profile = "https://www.rfc-editor.org/info/rfc9727";

/** Where our APIs and their descriptions are (RFC 9727): a linkset (RFC 9264), for HEAD as a Link header. */
export function GET(request: Request): Response {
  const { appUrl } = settings();
  const own = `${appUrl}/.well-known/api-catalog`;
  const endpoints = Object.values(operations).map(({ path }) => appUrl + path);
  const mcpEndpoints = mcpServer.paths.map((path) => appUrl + path);
  const linkset = [
    { anchor: own, item: [...endpoints, ...mcpEndpoints].map((href) => ({ href })) },
    ...endpoints.map((anchor) => ({
      anchor,
      "service-desc": [{ href: `${appUrl}/openapi.json`, type: "application/json" }],
      "service-doc": [
        { href: `${appUrl}/docs/api`, type: "text/html" },
        { href: `${appUrl}/docs/api.md`, type: "text/markdown" },
      ],
      "service-meta": [{ href: `${appUrl}/llms.txt`, type: "text/plain" }],
      status: [{ href: `${appUrl}${operations.health.path}`, type: "application/json" }],
      deprecation: [{ href: `${appUrl}/docs/api/policy`, type: "text/html" }],
    })),
    ...mcpEndpoints.map((anchor) => ({
      anchor,
      "service-doc": [{ href: `${appUrl}/docs/mcp`, type: "text/html" }],
    })),
  ];
  return publish(request, {
    type: `application/linkset+json; profile="${profile}"`,
    body: JSON.stringify({ linkset, profile }),
    headers: { Link: `<${own}>; rel="api-catalog"; type="application/linkset+json"` },
  });
}
