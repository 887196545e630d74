import { keyRing } from "@/lib/auth/keys/key-ring";
import { settings } from "@/lib/config/settings";
import { readClient } from "@/lib/docs/client-files";
import { makePortable, publishedMarkdown } from "@/lib/docs/document";
import { documents } from "@/lib/docs/documents";
import { openApiDocument } from "@/lib/docs/openapi";
import { type MakePublication, type Publication, plainText, publish } from "@/lib/docs/publication-handler";
import type { RouteHandler } from "@/lib/http/handler";
import { mcpServer } from "@/lib/http/register/mcp";
import { type Page, pages } from "@/lib/http/register/pages";
import { clientFiles, markdownForm, publications } from "@/lib/http/register/publications";
import type { Route } from "@/lib/http/route";
import { describeServer } from "@/lib/mcp/server-info";
import {
  authorizationServerMetadata,
  openIdConfiguration,
  protectedResourceMetadata,
} from "@/lib/oauth/server-metadata";
import { describeApis } from "./api-catalog";
import { writeChangesFeed } from "./changes-feed";
import { writeLlms } from "./llms";
import { writeSecurityTxt } from "./security-txt";
import { describeStatus } from "./status-json";

/** What each publication says. */
const rows: Record<keyof typeof publications, MakePublication> = {
  openApi: () => ({ body: openApiDocument() }),
  llms: writeLlms,
  llmsFull: () => plainText(documents.map(({ markdown }) => makePortable(markdown()))),
  statusData: describeStatus,
  changesFeed: writeChangesFeed,
  relatedOrigins: listRelatedOrigins,
  jwks: listPublicKeys,
  authorizationServer: () => ({ body: authorizationServerMetadata() }),
  openIdConfiguration: () => ({ body: openIdConfiguration() }),
  wholeResource: describeResource,
  apiResource: describeResource,
  mcpResource: describeResource,
  mcpAccountResource: describeResource,
  mcpResourceUnderApi: describeResource,
  mcpServer: describeMcpServer,
  apiCatalog: describeApis,
  securityTxt: writeSecurityTxt,
  sitemap: listPublicPages,
  robots: listClosedPages,
};

/**
 * The metadata of the protected resource in the rest of a path, spelled as it was asked for: clients refuse another
 * spelling, and a slash at its end is one (RFC 9728 §3.3).
 */
function describeResource({ pathname }: URL): Publication {
  return { body: protectedResourceMetadata(pathname.slice(publications.wholeResource.path.length)) };
}

/** What the host of the passkeys tells browsers: an origin elsewhere that may use them (WebAuthn §5.11). */
function listRelatedOrigins(): Publication | undefined {
  const { appUrl, passkeyHost } = settings();
  return passkeyHost === undefined ? undefined : { body: { origins: [appUrl] } };
}

/** The route handlers of the publications, the client files and the documents in Markdown, by path. */
export const publicationHandlers: ReadonlyMap<string, RouteHandler> = new Map([
  ...Object.entries(rows).map(([name, make]) => handlerOf(publications[name as keyof typeof rows], make)),
  ...Object.keys(clientFiles).map((name) => handlerOfClient(name as keyof typeof clientFiles)),
  ...documents.map((document) => handlerOf(markdownForm(document), () => publishedMarkdown(document))),
]);

function handlerOf(route: Route, make: MakePublication) {
  return [route.path as string, publish(route, make)] as const;
}

/** A client file: plain text, because no media type of these languages is registered. It never changes. */
function handlerOfClient(language: keyof typeof clientFiles) {
  const route: Route = clientFiles[language];
  const headers = ["content-disposition", `attachment; filename="${route.path.split("/").at(-1)}"`];
  return handlerOf(route, () => ({ ...plainText([readClient(language)]), headers }));
}

/** The public keys that verify our tokens, including a key that will sign soon (RFC 7517 §5). */
async function listPublicKeys(): Promise<Publication> {
  const keys = (await keyRing().published(Date.now())).map(({ kid, publicKey }) => ({
    ...publicKey.export({ format: "jwk" }),
    kid,
    alg: "RS256",
    use: "sig",
  }));
  return { mediaType: "application/jwk-set+json", body: { keys } };
}

/** The MCP server's `server.json`, in the format of the MCP registry, named after our host. */
function describeMcpServer(): Publication {
  const { appUrl } = settings();
  const { name, ...described } = describeServer();
  const host = new URL(appUrl).hostname.split(".").reverse().join(".");
  const body = {
    $schema: "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
    name: `${host}/${name}`,
    description: "Whether your company of AI assistants may run, its credits, and the documents of its API.",
    ...described,
    remotes: mcpServer.paths.slice(0, 1).map((path) => ({ type: "streamable-http", url: appUrl + path })),
  };
  return { body };
}

/** The public pages, for crawlers (sitemaps.org). */
function listPublicPages(): Publication {
  const listed = Object.values<Page>(pages).filter(({ inSitemap }) => inSitemap);
  const urls = listed.map(({ path }) => `<url><loc>${settings().appUrl}${path}</loc></url>`).join("\n");
  const body = `<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n${urls}\n</urlset>\n`;
  return { mediaType: "application/xml", body };
}

/** Crawlers may read every public page; pages that belong to one person are disallowed. */
function listClosedPages(): Publication {
  const closed = Object.values<Page>(pages).filter(({ isCrawled }) => !isCrawled);
  const disallowed = closed.map(({ path }) => `Disallow: ${path}`);
  return plainText([
    "User-agent: *",
    ...disallowed,
    "",
    `Sitemap: ${settings().appUrl}${publications.sitemap.path}`,
    "",
  ]);
}
