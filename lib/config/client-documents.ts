import { isIP } from "node:net";
import * as z from "zod";
import { isLoopback } from "@/lib/config/loopback";

/** What is used of a metadata document, apart from its address. */
type Contents = { client_name: string; redirect_uris: string[] };

/**
 * The addresses at which known agents publish their metadata documents, and where each was found. The document of an agent
 * that is missing here is read once its owner has signed in. Of hosts that refuse servers in
 * clouds, what the document says: anthropics/claude-ai-mcp#650, anthropics/claude-code#84263, openstatusHQ/openstatus#2653.
 */
const knownDocuments: Record<string, Contents | undefined> = {
  // Claude on the web, computers and phones: claude.com/docs/connectors/building/authentication
  "https://claude.ai/oauth/mcp-oauth-client-metadata": {
    client_name: "Claude",
    redirect_uris: ["https://claude.ai/api/mcp/auth_callback"],
  },
  // Claude Code 2.1.332 sends it: npm run clients
  "https://claude.ai/oauth/claude-code-client-metadata": {
    client_name: "Claude Code",
    redirect_uris: ["http://localhost/callback", "http://127.0.0.1/callback"],
  },
  // Codex 0.171.0 sends it where answers have `iss`: developers.openai.com/codex/mcp, npm run clients
  "https://chatgpt.com/oauth/codex/client.json": {
    client_name: "Codex",
    redirect_uris: ["http://127.0.0.1/callback", "http://localhost/callback"],
  },
  // ChatGPT, where answers have `iss`: developers.openai.com/apps-sdk/build/auth
  "https://chatgpt.com/oauth/client.json": {
    client_name: "ChatGPT",
    redirect_uris: ["https://chatgpt.com/connector_platform_oauth_redirect"],
  },
  // Grok on the web: docs.x.ai/grok/connectors
  "https://grok.com/oauth/mcp-client.json": {
    client_name: "Grok",
    redirect_uris: [
      "https://grok.com/connectors-oauth-exchange-code/",
      "https://console.x.ai/connectors-oauth-exchange-code/",
    ],
  },
  // Cursor: github.com/awaken-tax, its plugin for Cursor
  "https://cursor.com/oauth/mcp-client.json": undefined,
  // Copilot CLI 1.0.83: github.com/github/copilot-cli/issues/4800
  "https://github.com/copilot/cli/client-metadata.json": undefined,
  // VS Code (`authClientIdMetadataUrl` of its product.json): github.com/microsoft/vscode/issues/298300
  "https://vscode.dev/oauth/client-metadata.json": undefined,
  // VS Code Insiders and the next six: github.com/speakeasy-api/gram, its list of clients
  "https://insiders.vscode.dev/oauth/client-metadata.json": undefined,
  "https://www.notion.so/oauth/mcp-client-metadata.json": undefined,
  "https://app.notion.com/oauth/mcp-client-metadata.json": undefined,
  "https://www.mcpjam.com/.well-known/oauth/client-metadata.json": undefined,
  "https://api.factory.ai/mcp/oauth-client": undefined,
  "https://toolhive.dev/oauth/client-metadata.json": undefined,
  "https://www.skydive.com/api/v1/external-oauth/client-metadata": undefined,
  // Hermes Agent: github.com/NousResearch/hermes-agent, its documents of MCP
  "https://nousresearch.github.io/hermes-agent/docs/oauth/client-metadata.json": undefined,
  // Zed: github.com/zed-industries/zed, crates/context_server/src/oauth.rs
  "https://zed.dev/oauth/client-metadata.json": undefined,
  // Goose: github.com/block/goose, crates/goose/src/oauth/mod.rs
  "https://goose-docs.ai/oauth/client-metadata.json": undefined,
  // opencode: github.com/anomalyco/opencode, packages/core/src/mcp/oauth.ts
  "https://opencode.ai/oauth/opencode/client.json": undefined,
};

/** What is known of a document that may not be readable from here. */
export const knownContents = (address: string): Contents | undefined => knownDocuments[address];

/**
 * `CONNECT_CLIENTS`: the exact addresses of the metadata documents that are fetched for anyone. `none` is the empty list. The
 * host must be a name, so that no client makes us request this machine or its network (SSRF).
 */
export const clientDocuments = z
  .string()
  .transform((text, context): string[] => {
    if (text.trim() === "none") return [];
    const addresses = text.split(",").map((address) => address.trim());
    const others = addresses.filter((address) => !isDocumentAddress(address));
    if (others.length > 0) {
      const message = `takes the whole addresses of metadata documents, like https://vscode.dev/oauth/client-metadata.json, or none; not ${others.join(", ")}`;
      context.addIssue({ code: "custom", message });
    }
    return addresses;
  })
  .default(Object.keys(knownDocuments));

const maxCharacters = 400;

/** Whether a client id is the address of a metadata document at a host with a name (draft-ietf-oauth-client-id-metadata-document §3). */
export function isDocumentAddress(text: string): boolean {
  const url = URL.parse(text);
  if (url?.href !== text || url.protocol !== "https:" || text.length > maxCharacters) return false;
  const { hostname, pathname, username, password, hash } = url;
  const isName = isIP(hostname) === 0 && !hostname.startsWith("[") && !isLoopback(hostname);
  return isName && pathname !== "/" && username === "" && password === "" && hash === "";
}
