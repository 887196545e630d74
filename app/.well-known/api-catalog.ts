import { settings } from "@/lib/config/settings";
import type { Publication } from "@/lib/docs/publication-handler";
import { mcpServer } from "@/lib/http/register/mcp";
import { operations } from "@/lib/http/register/operations";
import { markdownPath, pages } from "@/lib/http/register/pages";
import { publications } from "@/lib/http/register/publications";

const profile = "https://www.rfc-editor.org/info/rfc9727";

/** The API catalog (RFC 9727): a linkset (RFC 9264) of our APIs and their descriptions; HEAD gets a Link header. */
export function describeApis(): Publication {
  const { appUrl } = settings();
  const own = `${appUrl}${publications.apiCatalog.path}`;
  const endpoints = Object.values(operations).map(({ path }) => appUrl + path);
  const mcpEndpoints = mcpServer.paths.map((path) => appUrl + path);
  const linkset = [
    { anchor: own, item: [...endpoints, ...mcpEndpoints].map((href) => ({ href })) },
    ...endpoints.map((anchor) => ({
      anchor,
      "service-desc": [{ href: `${appUrl}${publications.openApi.path}`, type: "application/json" }],
      "service-doc": [
        { href: `${appUrl}${pages.apiReference.path}`, type: "text/html" },
        { href: `${appUrl}${markdownPath(pages.apiReference.path)}`, type: "text/markdown" },
      ],
      "service-meta": [{ href: `${appUrl}${publications.llms.path}`, type: "text/plain" }],
      status: [{ href: `${appUrl}${operations.health.path}`, type: "application/json" }],
      deprecation: [{ href: `${appUrl}${pages.policy.path}`, type: "text/html" }],
    })),
    ...mcpEndpoints.map((anchor) => ({
      anchor,
      "service-doc": [{ href: `${appUrl}${pages.mcp.path}`, type: "text/html" }],
    })),
  ];
  return {
    mediaType: `application/linkset+json; profile="${profile}"`,
    body: { linkset, profile },
    headers: ["link", `<${own}>; rel="api-catalog"; type="application/linkset+json"`],
  };
}
