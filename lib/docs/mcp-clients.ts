const serverName = "corner-office";

/** How to connect known MCP clients to the server at `address`: commands to run, or the server in their settings. */
export function mcpClients(address: string) {
  const vsCode = { type: "http", url: address };
  const cursor = { url: address };
  return {
    claudeCode: [
      `claude mcp add --transport http ${serverName} ${address}`,
      `claude mcp login ${serverName}`,
    ],
    codex: [`codex mcp add ${serverName} --url ${address}`, `codex mcp login ${serverName}`],
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
