import { sentByMcpClients } from "@/lib/http/cors";
import { documentPages, markdownPath, type Page } from "@/lib/http/register/pages";
import type { Route } from "@/lib/http/route";

const fromAnywhere = {
  methods: ["GET", "HEAD", "OPTIONS"],
  anyOrigin: { sends: sentByMcpClients, reads: "ETag, Link" },
} as const;
const published = { isShared: true, ...fromAnywhere, caching: "public, max-age=300" } as const;
const forConnecting = { ...published, under: ["local", "clerk"], takesSlash: true } as const;

/** Published at the addresses of `/.well-known/` (RFC 8615). */
export const wellKnown = {
  /** Not kept in memory: a revoked key has to disappear at once. */
  jwks: { path: "/.well-known/jwks.json", ...fromAnywhere, caching: "public, max-age=30" },
  relatedOrigins: { path: "/.well-known/webauthn", ...published },
  passkeyPages: { path: "/.well-known/passkey-endpoints", ...published, under: ["local"] },
  authorizationServer: { path: "/.well-known/oauth-authorization-server", ...forConnecting },
  openIdConfiguration: { path: "/.well-known/openid-configuration", ...forConnecting },
  wholeResource: { path: "/.well-known/oauth-protected-resource", ...forConnecting },
  apiResource: { path: "/.well-known/oauth-protected-resource/api", ...forConnecting },
  mcpResource: { path: "/.well-known/oauth-protected-resource/mcp", ...forConnecting },
  mcpAccountResource: { path: "/.well-known/oauth-protected-resource/mcp/account", ...forConnecting },
  mcpResourceUnderApi: { path: "/.well-known/oauth-protected-resource/api/mcp", ...forConnecting },
  mcpServer: { path: "/.well-known/mcp/server.json", ...published },
  apiCatalog: { path: "/.well-known/api-catalog", ...published },
  openAiChallenge: { path: "/.well-known/openai-apps-challenge", ...published },
  securityTxt: { path: "/.well-known/security.txt", ...published },
} as const satisfies Record<string, Route>;

/** Published for programs. */
export const publications = {
  openApi: { path: "/openapi.json", ...published },
  llms: { path: "/llms.txt", ...published },
  llmsFull: { path: "/llms-full.txt", ...published },
  statusData: { path: "/status.json", ...published, caching: "public, max-age=1" },
  statusFeed: { path: "/status.atom", ...published, caching: "public, max-age=60" },
  changesFeed: { path: "/changes.atom", ...published },
  sitemap: { path: "/sitemap.xml", ...published },
  robots: { path: "/robots.txt", ...published },
  ...wellKnown,
} as const satisfies Record<string, Route>;

/** The version of the client files, in their first line and their address. A changed file needs another. */
export const clientVersion = "1.4.0";

const clientFile = { ...published, caching: "public, max-age=31536000" } as const;
const clientFolder = `${documentPages.client.path}/${clientVersion}` as const;

/** The client files of the documents, for download. */
export const clientFiles = {
  typescript: { path: `${clientFolder}/corner-office.ts`, ...clientFile },
  python: { path: `${clientFolder}/corner_office.py`, ...clientFile },
  swift: { path: `${clientFolder}/CornerOffice.swift`, ...clientFile },
  kotlin: { path: `${clientFolder}/CornerOffice.kt`, ...clientFile },
} as const satisfies Record<string, Route>;

/** The Markdown form of a document. */
export function markdownForm({ path }: Pick<Page, "path">): Route {
  return { path: markdownPath(path), ...published };
}
