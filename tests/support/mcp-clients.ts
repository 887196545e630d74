import * as current from "@modelcontextprotocol/client";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { expect } from "vitest";

/** The methods of a client that the tests use; the official clients only differ in their types. */
export type McpClient = {
  listTools: () => Promise<{ tools: { name: string }[] }>;
  listResources: () => Promise<{ resources: { uri: string; mimeType?: string | undefined }[] }>;
  listPrompts: () => Promise<{ prompts: { name: string }[] }>;
  getPrompt: (params: { name: string }) => Promise<{ messages: unknown[] }>;
  readResource: (params: { uri: string }) => Promise<{ contents: unknown[] }>;
  callTool: (params: { name: string; arguments: object }) => Promise<Record<string, unknown>>;
  /** Goes on with the answer to its authorization request. */
  finish: (answer: URLSearchParams) => Promise<void>;
  close: () => Promise<void>;
};

type Connect = (
  url: URL,
  options?: { requestInit?: RequestInit; authProvider?: object; fetch?: object },
) => Promise<McpClient>;

const info = { name: "test", version: "1.0.0" };

const connectSdk: Connect = async (url, options) => {
  const transport = new StreamableHTTPClientTransport(url, options as object);
  const client = new Client(info);
  await client.connect(transport as Parameters<typeof client.connect>[0]);
  const finish = (answer: URLSearchParams) => transport.finishAuth(answer.get("code") ?? "");
  return Object.assign(client, { finish }) as unknown as McpClient;
};

const connectCurrent =
  (mode: "legacy" | "auto"): Connect =>
  async (url, options) => {
    const transport = new current.StreamableHTTPClientTransport(url, options as object);
    const client = new current.Client(info, { versionNegotiation: { mode } });
    await client.connect(transport);
    expect(client.getNegotiatedProtocolVersion()).toBe(mode === "auto" ? "2026-07-28" : "2025-11-25");
    const finish = (answer: URLSearchParams) => transport.finishAuth(answer);
    return Object.assign(client, { finish }) as unknown as McpClient;
  };

/** The official clients, the newest in each protocol version. */
export const mcpClients: { name: string; connect: Connect }[] = [
  { name: "@modelcontextprotocol/sdk", connect: connectSdk },
  { name: "@modelcontextprotocol/client, by initialize", connect: connectCurrent("legacy") },
  { name: "@modelcontextprotocol/client, in 2026-07-28", connect: connectCurrent("auto") },
];
