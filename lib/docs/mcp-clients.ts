import { mcpServer } from "@/lib/http/register/mcp";

const serverName = "corner-office";

/** When all known clients were last tried: `npm run clients`. */
export const triedOn = "25 November 2026";

const [openPath] = mcpServer.paths;
const { accountPath } = mcpServer;

const byDocuments = "with our own program, which connects as its documents say, not in the app itself";
const notByUs = "not by us; these steps follow its documents";

/**
 * The clients that `npm run clients` tries, and four that need a desktop or run only at their makers', with how we tried
 * each. `accountPath` is for those that ask their owner only when connecting is refused.
 */
export const knownClients = [
  { name: "Claude Code", path: openPath, tried: "version 2.1.332" },
  { name: "Codex", path: openPath, tried: "version 0.171.0" },
  { name: "Copilot CLI", path: openPath, tried: "version 1.0.102" },
  { name: "MCP Inspector", path: openPath, tried: "version 2.12.0" },
  { name: "mcp-remote", path: openPath, tried: "version 0.15.1" },
  { name: "@modelcontextprotocol/sdk", path: openPath, tried: "version 1.32.2" },
  { name: "@modelcontextprotocol/client", path: openPath, tried: "version 2.4.0" },
  { name: "Claude", path: accountPath, tried: byDocuments },
  { name: "ChatGPT", path: accountPath, tried: byDocuments },
  { name: "Cursor", path: accountPath, tried: notByUs },
  { name: "VS Code", path: accountPath, tried: notByUs },
  { name: "Gemini CLI", path: accountPath, tried: "version 0.61.0" },
  { name: "opencode", path: accountPath, tried: "version 1.18.33" },
  { name: "mcporter", path: accountPath, tried: "version 0.12.3" },
  { name: "@ai-sdk/mcp", path: accountPath, tried: "version 2.0.99" },
  { name: "@langchain/mcp-adapters", path: accountPath, tried: "version 1.1.4" },
  { name: "@mastra/mcp", path: accountPath, tried: "version 2.0.0" },
];

/** How known clients connect. `;` joins commands in bash, zsh, fish and PowerShell, whose version 5.1 has no `&&`. */
export function mcpClients(appUrl: string) {
  const address = appUrl + openPath;
  const accountAddress = appUrl + accountPath;
  const vsCode = { type: "http", url: accountAddress };
  const cursor = { url: accountAddress };
  return {
    address,
    accountAddress,
    claudeCode: [
      `claude mcp add --transport http ${serverName} ${address}`,
      `claude mcp login ${serverName}`,
    ],
    // This also logs in.
    codex: `codex mcp add ${serverName} --url ${address}`,
    vsCode: {
      settings: { servers: { [serverName]: vsCode } },
      // code.visualstudio.com/api/extension-guides/ai/mcp
      installLink: `vscode:mcp/install?${encodeURIComponent(JSON.stringify({ name: serverName, ...vsCode }))}`,
    },
    cursor: {
      settings: { mcpServers: { [serverName]: cursor } },
      // cursor.com/docs/mcp/install-links
      installLink: `cursor://anysphere.cursor-deeplink/mcp/install?name=${serverName}&config=${encodeURIComponent(Buffer.from(JSON.stringify(cursor)).toString("base64"))}`,
    },
  };
}
