import * as current from "@modelcontextprotocol/client";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { describe, expect, it } from "vitest";
import { documents } from "@/lib/docs/documents";
import { errorCatalogue } from "@/lib/http/errors";
import { markdownPath } from "@/lib/http/pages";
import { tools } from "@/lib/mcp/tools";
import { borrowService } from "@/tests/support/block";
import { raised } from "@/tests/support/lent-service";

const info = { name: "test", version: "1.0.0" };

/** The methods of a client that the tests use; the three clients only differ in their types. */
type AnyClient = {
  listTools: () => Promise<{ tools: { name: string }[] }>;
  listResources: () => Promise<{ resources: { uri: string; mimeType?: string | undefined }[] }>;
  listPrompts: () => Promise<{ prompts: { name: string }[] }>;
  getPrompt: (params: { name: string }) => Promise<{ messages: unknown[] }>;
  readResource: (params: { uri: string }) => Promise<{ contents: unknown[] }>;
  callTool: (params: {
    name: string;
    arguments: Record<string, unknown>;
  }) => Promise<Record<string, unknown>>;
  close: () => Promise<void>;
};

type Connect = (url: URL, headers?: Record<string, string>) => Promise<AnyClient>;

const connectCurrent =
  (mode: "legacy" | "auto"): Connect =>
  async (url, headers = {}) => {
    const client = new current.Client(info, { versionNegotiation: { mode } });
    await client.connect(new current.StreamableHTTPClientTransport(url, { requestInit: { headers } }));
    expect(client.getNegotiatedProtocolVersion()).toBe(mode === "auto" ? "2026-07-28" : "2025-11-25");
    return client as unknown as AnyClient;
  };

const clients: { name: string; connect: Connect }[] = [
  {
    name: "@modelcontextprotocol/sdk",
    async connect(url, headers = {}) {
      const client = new Client(info);
      // The library's types conflict with exactOptionalPropertyTypes.
      const transport = new StreamableHTTPClientTransport(url, { requestInit: { headers } });
      await client.connect(transport as Parameters<typeof client.connect>[0]);
      return client as unknown as AnyClient;
    },
  },
  { name: "@modelcontextprotocol/client, by initialize", connect: connectCurrent("legacy") },
  { name: "@modelcontextprotocol/client, in 2026-07-28", connect: connectCurrent("auto") },
];
const { service } = await borrowService();
await service.adminJson("account", "add", "ceo@example.com", "--plan", "licensed", "--credits", "3");
const token = await service.token("ceo@example.com");

describe.each(clients)("$name", ({ connect }) => {
  const at = (path: string, to = service) => new URL(path, to.url);

  it.each(["/mcp", "/mcp/account"])("lists and calls every tool at %s", async (path) => {
    const client = await connect(at(path), { Authorization: `Bearer ${token}` });
    const listed = await client.listTools();
    expect(listed.tools.map(({ name }) => name)).toEqual(tools.map(({ name }) => name));
    const inputs: Record<string, Record<string, unknown>> = {
      search_docs: { query: "limits" },
      get_doc: { path: "/docs/api/limits" },
      search: { query: "limits" },
      fetch: { id: "/docs/api/limits" },
    };
    for (const { name, output } of tools) {
      const result = await client.callTool({ name, arguments: inputs[name] ?? {} });
      expect(result.isError, JSON.stringify(result)).toBeFalsy();
      if (output) expect(output.parse(result.structuredContent)).toEqual(result.structuredContent);
    }
    await client.close();
  });

  it("reads every resource: the documents, the error codes, the limits and the API description", async () => {
    const client = await connect(at("/mcp"));
    const { resources } = await client.listResources();
    const read = new Map<string, string>();
    for (const { uri, mimeType } of resources) {
      const { contents } = await client.readResource({ uri });
      expect(contents).toEqual([{ uri, mimeType, text: expect.any(String) }]);
      read.set(uri, (contents[0] as { text: string }).text);
    }
    for (const document of documents) {
      expect(read.get(`corner-office:/${document.path}`)).toBe(
        (await service.ask(markdownPath(document.path))).text,
      );
    }
    const { errors } = JSON.parse(read.get("corner-office://errors") ?? "");
    expect(errors.map(({ code }: { code: string }) => code)).toEqual(Object.keys(errorCatalogue));
    expect(JSON.parse(read.get("corner-office://limits") ?? "")).toEqual({
      requests: [
        { policy: "health", addresses: ["/api/health"], requests: raised.health, windowSeconds: 60 },
        {
          policy: "mcp",
          addresses: ["/mcp", "/api/mcp", "/mcp/account"],
          requests: raised.mcp,
          windowSeconds: 60,
        },
      ],
      bodies: [
        { addresses: ["/api/email/unsubscribe"], bytes: 4096 },
        { addresses: ["/mcp", "/api/mcp", "/mcp/account"], bytes: 65_536 },
      ],
    });
    expect(JSON.parse(read.get("corner-office://openapi.json") ?? "")).toEqual(
      await (await fetch(at("/openapi.json"))).json(),
    );
    expect(resources).toHaveLength(documents.length + 3);
    await client.close();
  });

  it("lists and reads the prompts", async () => {
    const client = await connect(at("/mcp"));
    for (const { name } of (await client.listPrompts()).prompts) {
      const { messages } = await client.getPrompt({ name });
      expect(messages).toHaveLength(1);
    }
    await client.close();
  });
});
