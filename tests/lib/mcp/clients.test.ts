import { describe, expect, it } from "vitest";
import { documents } from "@/lib/docs/documents";
import { errorCatalogue } from "@/lib/http/errors";
import { markdownPath } from "@/lib/http/register/pages";
import { tools } from "@/lib/mcp/tools";
import { borrowService } from "@/tests/support/block";
import { raised } from "@/tests/support/lent-service";
import { mcpClients } from "@/tests/support/mcp-clients";

const { service } = await borrowService();
await service.adminJson("account", "add", "ceo@example.com", "--plan", "licensed", "--credits", "3");
const token = await service.token("ceo@example.com");

describe.each(mcpClients)("$name", ({ connect }) => {
  const at = (path: string) => new URL(path, service.url);

  it.each(["/mcp", "/mcp/account"])("lists and calls every tool at %s", async (path) => {
    const client = await connect(at(path), {
      requestInit: { headers: { Authorization: `Bearer ${token}` } },
    });
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
