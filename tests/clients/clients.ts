import { sessionDays } from "@/lib/config/lifetimes";
import type { mcpServer } from "@/lib/http/register/mcp";
import { Conversation } from "./conversation";
import { type Desk, maxMs } from "./desk";

/** What happens to a client before it reads the account. Its session goes on through all but the first and the last. */
export const phases = {
  signIn: "signed in",
  hour: "an hour",
  lostAnswer: "a lost answer",
  fiveAtOnce: "five at once",
  restart: "a restart",
  idleAndKept: `${sessionDays.idle - 1} idle days`,
  idleAndEnded: `${sessionDays.idle + 1} idle days`,
} as const;
export type Phase = keyof typeof phases;

export type Client = {
  name: string;
  /** The npm packages that `npx` fetches, in exact versions; the first is the client. */
  packages: [string, ...string[]];
  /** The path of the MCP server: `/mcp`, or `/mcp/account` if it asks its owner only when connecting is refused. */
  path: (typeof mcpServer.paths)[number];
  /** A stand-in for its model calls the tool, or a program does. */
  caller: "model" | "program";
  /** Adds our address. Throws on failure. */
  add?: (desk: Desk, address: string) => Promise<unknown>;
  /** Logs in, if its documents say that users do. Throws on failure. */
  logIn?: (desk: Desk) => Promise<unknown>;
  /** Where it asks its owner again although its session goes on, and what in its code does so. */
  asksAgain?: Partial<Record<Phase, string>>;
  /** Calls the tool, or has the model call it. Returns its output. Throws on failure. */
  call: (desk: Desk, address: string) => Promise<string>;
};

/** A tool that reads the account, so that a client needs authorization. */
export const tool = "get_credits_balance";

const me = { name: "clients", version: "1.0.0" };
const server = "corner-office";
const question = "How many credits does my company have?";

const gemini = ({ model }: Desk) => ({ GOOGLE_GEMINI_BASE_URL: model, GEMINI_API_KEY: "none" });
const copilot = ({ model }: Desk) => ({
  COPILOT_PROVIDER_BASE_URL: `${model}/v1`,
  COPILOT_MODEL: "stand-in",
});

/** What asks an owner again after a lost answer, in client after client. */
const anyFailure =
  "its auth() goes on to ask for authorization after any failure to renew that is no OAuth error";

const forgetsItself =
  "its PersistentOAuthClientProvider.create() deletes its registration at each call, for it has another port then, so only the call after a sign-in can renew";

/** A tool's result, as the text that a model reads. */
type Result = { isError?: boolean; content: { text: string }[] };

export const clients: Client[] = [
  {
    name: "Claude Code",
    packages: ["@anthropic-ai/claude-code@2.1.332"],
    path: "/mcp",
    caller: "model",
    add: (desk, address) =>
      desk.run("claude", ["mcp", "add", "--scope", "user", "--transport", "http", server, address]),
    logIn: (desk) => desk.runInTerminal("claude", ["mcp", "login", server]),
    call: (desk) =>
      desk.run("claude", ["-p", question, "--allowedTools", `mcp__${server}__${tool}`], {
        ANTHROPIC_BASE_URL: desk.model,
        ANTHROPIC_API_KEY: "none",
        MCP_TIMEOUT: String(maxMs),
      }),
  },
  {
    name: "Codex",
    packages: ["@openai/codex@0.171.0"],
    path: "/mcp",
    caller: "model",
    async add(desk, address) {
      const provider = `name = "Stand-in"\nbase_url = "${desk.model}/v1"\nwire_api = "responses"\n`;
      const config = `model = "stand-in"\nmodel_provider = "local"\n[model_providers.local]\n${provider}`;
      desk.write(".codex/config.toml", config);
      // This also logs in.
      await desk.run("codex", ["mcp", "add", server, "--url", address]);
    },
    logIn: (desk) => desk.run("codex", ["mcp", "login", server]),
    call(desk) {
      const patient = `mcp_servers.${server}.startup_timeout_sec=${maxMs / 1000}`;
      return desk.run("codex", ["exec", "--skip-git-repo-check", "-c", patient, question]);
    },
  },
  {
    name: "Gemini CLI",
    packages: ["@google/gemini-cli@0.61.0"],
    asksAgain: {
      lostAnswer: "its getValidTokenWithMetadata() deletes its tokens after any failure to renew",
    },
    path: "/mcp/account",
    caller: "model",
    async add(desk, address) {
      const auth = { selectedType: "gemini-api-key" };
      desk.write(".gemini/settings.json", JSON.stringify({ security: { auth } }));
      await desk.run("gemini", ["mcp", "add", "--scope", "user", "--transport", "http", server, address]);
    },
    async logIn(desk) {
      const login = ["--skip-trust", "-i", `/mcp auth ${server}`];
      // It sometimes takes its first command for a question to the model, before it has loaded its commands.
      const dialogue = {
        question: /Do you want to continue\?/,
        wanted: /Successfully authenticated/,
        misunderstood: /Thinking\.\.\./,
      };
      await desk.runInTerminalUntil(dialogue, "gemini", login, gemini(desk));
    },
    call(desk) {
      const options = ["--skip-trust", "--approval-mode", "yolo", "--model", "gemini-2.5-flash"];
      return desk.run("gemini", [...options, "--prompt", question], gemini(desk));
    },
  },
  {
    name: "opencode",
    packages: ["opencode-ai@1.18.33"],
    path: "/mcp/account",
    caller: "model",
    async add(desk, address) {
      const local = {
        npm: "@ai-sdk/openai-compatible",
        options: { baseURL: `${desk.model}/v1`, apiKey: "none" },
        models: { "stand-in": {} },
      };
      desk.write(".config/opencode/opencode.json", JSON.stringify({ provider: { local } }));
      await desk.run("opencode", ["mcp", "add", server, "--url", address]);
    },
    logIn: (desk) => desk.runInTerminal("opencode", ["mcp", "auth", server]),
    call: (desk) => desk.run("opencode", ["run", "--model", "local/stand-in", question]),
  },
  {
    name: "Copilot CLI",
    packages: ["@github/copilot@1.0.102"],
    asksAgain: { lostAnswer: "it tries no renewal any more after one that got no answer" },
    path: "/mcp",
    caller: "model",
    async add(desk, address) {
      desk.write(".copilot/config.json", JSON.stringify({ trusted_folders: [desk.home] }));
      await desk.run("copilot", ["mcp", "add", "--transport", "http", server, address]);
    },
    async logIn(desk) {
      const login = ["-i", `/mcp auth ${server}`];
      await desk.runInTerminalUntil(
        { wanted: /Successfully authenticated/ },
        "copilot",
        login,
        copilot(desk),
      );
    },
    call: (desk) => desk.run("copilot", ["-p", question, "--allow-tool", server], copilot(desk)),
  },
  {
    name: "mcp-remote",
    packages: ["mcp-remote@0.15.1"],
    path: "/mcp",
    caller: "program",
    async call(desk, address) {
      const remote = new Conversation(desk.start("mcp-remote", [address]));
      const protocolVersion = "2025-11-25";
      await remote.ask("initialize", { protocolVersion, capabilities: {}, clientInfo: me });
      remote.tell("notifications/initialized");
      await remote.ask("tools/list");
      const { isError, content } = await remote.ask<Result>("tools/call", { name: tool, arguments: {} });
      const said = content.map(({ text }) => text).join("");
      if (isError) throw new Error(said);
      return said;
    },
  },
  {
    name: "MCP Inspector",
    packages: ["@modelcontextprotocol/inspector@2.12.0"],
    path: "/mcp",
    caller: "program",
    call(desk, address) {
      const call = ["--method", "tools/call", "--tool-name", tool, "--format", "json"];
      // Without a keychain, and where it takes its machine for a container, it would keep its tokens in memory.
      const always = { MCP_AUTO_OPEN_ENABLED: "true", MCP_INSPECTOR_SECRET_STORE: "file" };
      return desk.run("mcp-inspector", ["--cli", address, "--transport", "http", ...call], always);
    },
  },
  {
    name: "mcporter",
    packages: ["mcporter@0.12.3"],
    asksAgain: { hour: forgetsItself, lostAnswer: forgetsItself, idleAndKept: forgetsItself },
    path: "/mcp/account",
    caller: "program",
    async add(desk, address) {
      const mcpServers = { [server]: { url: address, auth: "oauth" } };
      desk.write(".mcporter/mcporter.json", JSON.stringify({ mcpServers }));
    },
    logIn: (desk) => desk.run("mcporter", ["auth", server]),
    call: (desk) => desk.run("mcporter", ["call", `${server}.${tool}`]),
  },
  {
    name: "@modelcontextprotocol/sdk",
    packages: ["@modelcontextprotocol/sdk@1.32.2"],
    path: "/mcp",
    asksAgain: { lostAnswer: anyFailure },
    caller: "program",
    call: (desk, address) => desk.runProgram("sdk-1.mjs", [address, tool]),
  },
  {
    name: "@modelcontextprotocol/client",
    packages: ["@modelcontextprotocol/client@2.4.0"],
    path: "/mcp",
    asksAgain: { lostAnswer: anyFailure },
    caller: "program",
    call: (desk, address) => desk.runProgram("sdk-2.mjs", [address, tool]),
  },
  {
    name: "@ai-sdk/mcp",
    packages: ["@ai-sdk/mcp@2.0.99", "ai@7.0.173", "@ai-sdk/openai-compatible@3.0.92", "zod@4.6.7"],
    path: "/mcp/account",
    asksAgain: { lostAnswer: anyFailure },
    caller: "model",
    call: (desk, address) => desk.runProgram("vercel.mjs", [address, desk.model, question]),
  },
  {
    name: "@langchain/mcp-adapters",
    packages: [
      "@langchain/mcp-adapters@1.1.4",
      "@langchain/core@1.4.0",
      "@langchain/langgraph@1.7.3",
      "@langchain/openai@1.6.0",
      "langchain@1.5.14",
    ],
    path: "/mcp/account",
    asksAgain: { lostAnswer: anyFailure },
    caller: "model",
    call: (desk, address) => desk.runProgram("langchain.mjs", [address, desk.model, question]),
  },
  {
    name: "@mastra/mcp",
    packages: ["@mastra/mcp@2.0.0", "@mastra/core@1.71.0"],
    path: "/mcp/account",
    caller: "model",
    asksAgain: { lostAnswer: anyFailure },
    // It never registers; it takes a client id or the URL of a metadata document.
    call: (desk, address) => desk.runProgram("mastra.mjs", [address, desk.model, question, "native"]),
  },
];
