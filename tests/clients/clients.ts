import type { mcpServer } from "@/lib/http/operations";
import { Conversation } from "./conversation";
import type { Desk } from "./desk";

export type Client = {
  name: string;
  /** The npm package that `npx` fetches, and its program. */
  npm: string;
  program: string;
  /** An agent's model calls its tools, and there is no model here: only its connection is checked. */
  isAgent?: true;
  /** The path of the MCP server: `/mcp`, or `/mcp/account` if it asks its owner only when connecting is refused. */
  path: (typeof mcpServer.paths)[number];
  /** Connects it with only our address, and calls the tool. Returns its output. Throws on failure. */
  use: (desk: Desk, address: string) => Promise<string>;
};

/** A tool that reads the account, so that a client needs authorization. */
export const tool = "get_credits_balance";

const me = { name: "clients", version: "1.0.0" };

/** A tool's result, as the text that a model reads. */
type Result = { isError?: boolean; content: { text: string }[] };

export const clients: Client[] = [
  {
    name: "mcp-remote",
    npm: "mcp-remote@0.15.1",
    program: "mcp-remote",
    path: "/mcp",
    async use(desk, address) {
      const remote = new Conversation(desk.start([address]));
      const protocolVersion = "2025-11-25";
      await remote.ask("initialize", { protocolVersion, capabilities: {}, clientInfo: me });
      remote.tell("notifications/initialized");
      await remote.ask("tools/list");
      return read(await remote.ask<Result>("tools/call", { name: tool, arguments: {} }));
    },
  },
  {
    name: "MCP Inspector",
    npm: "@modelcontextprotocol/inspector@2.12.0",
    program: "mcp-inspector",
    path: "/mcp",
    async use(desk, address) {
      const call = ["--method", "tools/call", "--tool-name", tool, "--format", "json"];
      const always = { MCP_AUTO_OPEN_ENABLED: "true" };
      return desk.run(["--cli", address, "--transport", "http", ...call], always);
    },
  },
  {
    name: "Claude Code",
    npm: "@anthropic-ai/claude-code@2.1.330",
    program: "claude",
    path: "/mcp",
    isAgent: true,
    async use(desk, address) {
      await desk.run(["mcp", "add", "--scope", "user", "--transport", "http", "corner-office", address]);
      await desk.runInTerminal(["mcp", "login", "corner-office"]);
      return desk.run(["mcp", "list"]);
    },
  },
  {
    name: "Codex",
    npm: "@openai/codex@0.169.0",
    program: "codex",
    path: "/mcp",
    async use(desk, address) {
      await desk.run(["mcp", "add", "corner-office", "--url", address]);
      await desk.run(["mcp", "login", "corner-office"]);
      const codex = new Conversation(desk.start(["app-server"]));
      await codex.ask("initialize", { clientInfo: me, capabilities: { experimentalApi: true } });
      codex.tell("initialized");
      const { thread } = await codex.ask<{ thread: { id: string } }>("thread/start", { ephemeral: true });
      const call = { threadId: thread.id, server: "corner-office", tool, arguments: {} };
      return read(await codex.ask<Result>("mcpServer/tool/call", call));
    },
  },
  {
    name: "opencode",
    npm: "opencode-ai@1.18.33",
    program: "opencode",
    path: "/mcp/account",
    isAgent: true,
    async use(desk, address) {
      const mcp = { "corner-office": { type: "remote", url: address } };
      desk.write(".config/opencode/opencode.json", JSON.stringify({ mcp }));
      await desk.runInTerminal(["mcp", "auth", "corner-office"]);
      return desk.run(["mcp", "list"]);
    },
  },
  {
    name: "mcporter",
    npm: "mcporter@0.12.3",
    program: "mcporter",
    path: "/mcp/account",
    async use(desk, address) {
      const mcpServers = { "corner-office": { url: address, auth: "oauth" } };
      desk.write(".mcporter/mcporter.json", JSON.stringify({ mcpServers }));
      await desk.run(["auth", "corner-office"]);
      return desk.run(["call", `corner-office.${tool}`]);
    },
  },
];

function read({ isError, content }: Result): string {
  const said = content.map(({ text }) => text).join("");
  if (isError) throw new Error(said);
  return said;
}
