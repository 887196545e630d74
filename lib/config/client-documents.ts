import { isIP } from "node:net";
import * as z from "zod";
import { isLoopback } from "@/lib/config/loopback";

/** The addresses at which known agents publish their metadata documents, and where each was found. */
const knownDocuments = [
  // Claude on the web, computers and phones: claude.com/docs/connectors/building/authentication
  "https://claude.ai/oauth/mcp-oauth-client-metadata",
  // Claude Code 2.1.330 sends it: npm run clients
  "https://claude.ai/oauth/claude-code-client-metadata",
  // Codex 0.169.0 sends it where answers have `iss`: developers.openai.com/codex/mcp, npm run clients
  "https://chatgpt.com/oauth/codex/client.json",
  // ChatGPT, where answers have `iss`: developers.openai.com/apps-sdk/build/auth
  "https://chatgpt.com/oauth/client.json",
  // Copilot CLI 1.0.83: github.com/github/copilot-cli/issues/4800
  "https://github.com/copilot/cli/client-metadata.json",
  // VS Code (`authClientIdMetadataUrl` of its product.json): github.com/microsoft/vscode/issues/298300
  "https://vscode.dev/oauth/client-metadata.json",
  // VS Code Insiders, the same of its own product.json: github.com/speakeasy-api/gram, its list of clients
  "https://insiders.vscode.dev/oauth/client-metadata.json",
  // Zed: github.com/zed-industries/zed, crates/context_server/src/oauth.rs
  "https://zed.dev/oauth/client-metadata.json",
  // Goose: github.com/block/goose, crates/goose/src/oauth/mod.rs
  "https://goose-docs.ai/oauth/client-metadata.json",
  // opencode: github.com/anomalyco/opencode, packages/core/src/mcp/oauth.ts
  "https://opencode.ai/oauth/opencode/client.json",
];

/**
 * `CONNECT_CLIENTS`: the exact addresses of the metadata documents that may be fetched. `none` is the empty list. The
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
  .default(knownDocuments);

function isDocumentAddress(text: string): boolean {
  const { protocol, hostname, pathname, username, hash, href } = URL.parse(text) ?? new URL("about:blank");
  const isName = isIP(hostname) === 0 && !hostname.startsWith("[") && !isLoopback(hostname);
  return (
    href === text && protocol === "https:" && isName && pathname !== "/" && username === "" && hash === ""
  );
}
