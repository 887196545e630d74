import { keyRing } from "@/lib/auth/keys/key-ring";
import { settings } from "@/lib/config/settings";
import { type MakePublication, type Publication, plainText, publish } from "@/lib/docs/publication-handler";
import { mcpServer } from "@/lib/http/register/mcp";
import { pages } from "@/lib/http/register/pages";
import { wellKnown } from "@/lib/http/register/publications";
import { describeServer } from "@/lib/mcp/server-info";
import {
  authorizationServerMetadata,
  openIdConfiguration,
  protectedResourceMetadata,
} from "@/lib/oauth/server-metadata";
import { describeApis } from "./api-catalog";
import { writeSecurityTxt } from "./security-txt";

/** What each address of `/.well-known/` says. */
const rows: Record<keyof typeof wellKnown, MakePublication> = {
  jwks: listPublicKeys,
  relatedOrigins: listRelatedOrigins,
  passkeyPages: describePasskeyPages,
  authorizationServer: () => ({ body: authorizationServerMetadata() }),
  openIdConfiguration: () => ({ body: openIdConfiguration() }),
  wholeResource: describeResource,
  apiResource: describeResource,
  mcpResource: describeResource,
  mcpAccountResource: describeResource,
  mcpResourceUnderApi: describeResource,
  mcpServer: describeMcpServer,
  apiCatalog: describeApis,
  openAiChallenge: proveToOpenAi,
  securityTxt: writeSecurityTxt,
};

export const wellKnownHandlers = Object.entries(rows).map(([name, make]) =>
  publish(wellKnown[name as keyof typeof rows], make),
);

/**
 * The metadata of the protected resource in the rest of a path, spelled as it was asked for: clients refuse another
 * spelling, and a slash at its end is one (RFC 9728 §3.3).
 */
function describeResource({ pathname }: URL): Publication {
  return { body: protectedResourceMetadata(pathname.slice(wellKnown.wholeResource.path.length)) };
}

/** What the host of the passkeys tells browsers: an origin elsewhere that may use them (WebAuthn §5.11). */
function listRelatedOrigins(): Publication | undefined {
  const { appUrl, passkeyHost } = settings();
  return passkeyHost === undefined ? undefined : { body: { origins: [appUrl] } };
}

/** Where an owner adds and removes passkeys, for password managers that lead there (W3C Passkey Endpoints). */
function describePasskeyPages(): Publication {
  const page = `${settings().appUrl}${pages.access.path}#ways`;
  return { body: { enroll: page, manage: page } };
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

/** The token by which OpenAI knows that the host is its developer's: developers.openai.com/apps-sdk/deploy/submission. */
function proveToOpenAi(): Publication | undefined {
  const { openAiChallenge } = settings();
  return openAiChallenge === undefined ? undefined : plainText([openAiChallenge]);
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
