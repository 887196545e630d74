import {
  type JSONValue,
  McpServer,
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
} from "@modelcontextprotocol/server";
import * as z from "zod";
import type { Caller } from "@/lib/accounts/caller";
import type { Call } from "@/lib/http/call";
import { unexpectedError } from "@/lib/http/handler";
import { mcpServer } from "@/lib/http/register/mcp";
import { prompts } from "@/lib/mcp/prompts";
import { type Resource, resourceSizes, resources } from "@/lib/mcp/resources";
import { describeServer, instructions } from "@/lib/mcp/server-info";
import { callTool } from "@/lib/mcp/tool-call";
import { tools } from "@/lib/mcp/tools";
import { accountScope } from "@/lib/oauth/resources";
import { perProcess } from "@/lib/per-process";

const fiveMinutesMs = 5 * 60 * 1000;
/** Lists and resources are the same for every caller; only tool results differ. */
const forEveryone = { ttlMs: fiveMinutesMs, cacheScope: "public" } as const;

const unchanging = { listChanged: false };

const audience: ("user" | "assistant")[] = ["user", "assistant"];

/**
 * Creates the MCP server of one request, so that requests never share a caller. To a client of a legacy protocol it names no
 * icons: Cursor, Copilot and claude.ai have refused all of it for them (github/github-mcp-server#1644, anthropics/claude-ai-mcp#474).
 */
export function createMcpServer(caller: Caller, request: Call, isLegacy: boolean): McpServer {
  const { icons, ...plain } = describeServer();
  const server = new McpServer(isLegacy ? plain : { ...plain, icons }, {
    instructions,
    capabilities: { tools: unchanging, resources: unchanging, prompts: unchanging },
    cacheHints: {
      "server/discover": forEveryone,
      "tools/list": forEveryone,
      "resources/list": forEveryone,
      "resources/templates/list": forEveryone,
      "resources/read": forEveryone,
      "prompts/list": forEveryone,
    },
  });
  for (const tool of tools) {
    const about = { inputSchema: tool.input };
    server.registerTool(tool.name, about, (input) => callTool(tool, input, caller, request));
  }
  // The library's own list has no `securitySchemes`.
  server.server.setRequestHandler("tools/list", () => ({ tools: listTools(request.route?.path) }));
  const sizes = resourceSizes();
  for (const [at, resource] of resources.entries()) {
    const { name, uri, title, description, mimeType } = resource;
    const about = { title, description, mimeType, size: sizes[at], annotations: { audience } };
    server.registerResource(name, uri, about, () => readResource(resource, request));
  }
  for (const { name, title, description, write } of prompts) {
    server.registerPrompt(name, { title, description }, () => ({
      messages: [{ role: "user", content: { type: "text", text: write() } }],
    }));
  }
  return server;
}

const describedTools = perProcess("descriptions of tools", () =>
  tools.map(({ name, title, description, input, output }) => ({
    name,
    title,
    description,
    // Without these hints, clients assume that a tool is destructive and reaches external systems.
    annotations: {
      title,
      readOnlyHint: true,
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: false,
    },
    inputSchema: convert(input, "input"),
    ...(output && { outputSchema: convert(output, "output") }),
  })),
);

/** The tools as a client at a path is told of them. */
function listTools(path: string | undefined) {
  return describedTools().map((described, at) => {
    const needsToken = tools[at]?.needsSession || path === mcpServer.accountPath;
    // ChatGPT's: developers.openai.com/apps-sdk/build/auth. It also reads them in `_meta` (apps-sdk/reference).
    const securitySchemes = [needsToken ? { type: "oauth2", scopes: [accountScope] } : { type: "noauth" }];
    return { ...described, securitySchemes, _meta: { securitySchemes } };
  });
}

function readResource({ uri, mimeType, read }: Resource, request: Call): ReadResourceResult {
  try {
    return { contents: [{ uri, mimeType, text: read() }] };
  } catch (failure) {
    throw new ProtocolError(ProtocolErrorCode.InternalError, unexpectedError(failure, request).message);
  }
}

/**
 * A schema as published: without `$schema`, which is the default. Inputs are closed, so that models invent no arguments, and
 * outputs open, so that fields can be added.
 */
function convert(schema: z.ZodType, io: "input" | "output") {
  const { $schema, ...published } = z.toJSONSchema(schema, {
    io,
    override: ({ jsonSchema }) => {
      if (io === "input" && jsonSchema.type === "object") jsonSchema.additionalProperties = false;
      if (io === "output" && jsonSchema.additionalProperties === false)
        delete jsonSchema.additionalProperties;
      delete jsonSchema.propertyNames; // they are texts in any JSON
      if (jsonSchema.format) delete jsonSchema.pattern;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
  // A union of objects does not say so.
  return { ...(published as Record<string, JSONValue>), type: "object" as const };
}
