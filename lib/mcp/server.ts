import {
  McpServer,
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  type StandardSchemaWithJSON,
} from "@modelcontextprotocol/server";
import * as z from "zod";
import type { Caller } from "@/lib/accounts/caller";
import { sessionLimits } from "@/lib/docs/words";
import { unexpectedError } from "@/lib/http/handler";
import type { RequestContext } from "@/lib/http/request-context";
import { prompts } from "@/lib/mcp/prompts";
import { type Resource, resources, sizeOf } from "@/lib/mcp/resources";
import { describeServer } from "@/lib/mcp/server-info";
import { callTool } from "@/lib/mcp/tool-call";
import { tools } from "@/lib/mcp/tools";

/** What a model is told of the service before it uses a tool. */
export const instructions = `Corner Office is where a person, the CEO, runs a company of AI assistants. This server reads; none of its tools changes anything.

- Questions about the HTTP API, its error codes, limits or versions: search_docs first, then get_doc for the whole text.
- get_health, get_site_banner and the documents need no sign-in. get_entitlement and get_credits_balance read an account: on the first call the client asks its owner, in a browser, to let it in, and keeps its token by itself.
- ${sessionLimits} Do not offer them.
- A token never goes into a chat, an issue or a log. Never ask for one in the conversation, and never repeat one.
- After a 429, wait the seconds that it names.`;

const fiveMinutesMs = 5 * 60 * 1000;
/** Nothing listed or read here depends on who asks; what does is a tool's. */
const forEveryone = { ttlMs: fiveMinutesMs, cacheScope: "public" } as const;

/** Resources are there for the person to pick from and for the model to read. */
const audience: ("user" | "assistant")[] = ["user", "assistant"];

/** The MCP server of one request. Every request gets its own, so that none sees another's caller. */
export function createMcpServer(caller: Caller, context: RequestContext): McpServer {
  const server = new McpServer(describeServer(), {
    instructions,
    capabilities: {
      tools: { listChanged: false },
      resources: { listChanged: false },
      prompts: { listChanged: false },
    },
    cacheHints: {
      "server/discover": forEveryone,
      "tools/list": forEveryone,
      "resources/list": forEveryone,
      "resources/templates/list": forEveryone,
      "resources/read": forEveryone,
      "prompts/list": forEveryone,
    },
  });
  for (const { tool, about } of listed) {
    server.registerTool(tool.name, about, (sent) => callTool(tool, sent, caller, context));
  }
  for (const resource of resources) {
    const { name, uri, title, description, mimeType } = resource;
    const about = { title, description, mimeType, size: sizeOf(resource), annotations: { audience } };
    server.registerResource(name, uri, about, () => readResource(resource, context));
  }
  for (const { name, title, description, write } of prompts) {
    server.registerPrompt(name, { title, description }, () => ({
      messages: [{ role: "user", content: { type: "text", text: write() } }],
    }));
  }
  return server;
}

/** The tools, and what is said of each. */
const listed = tools.map((tool) => {
  const { title, description, input, output } = tool;
  // Without these, clients take a tool for destructive and for reaching out into the world.
  const annotations = {
    title,
    readOnlyHint: true,
    destructiveHint: false,
    idempotentHint: true,
    openWorldHint: false,
  };
  const about = {
    title,
    description,
    annotations,
    inputSchema: publish(input),
    ...(output && { outputSchema: publish(output) }),
  };
  return { tool, about };
});

function readResource({ uri, mimeType, read }: Resource, context: RequestContext): ReadResourceResult {
  try {
    return { contents: [{ uri, mimeType, text: read() }] };
  } catch (failure) {
    throw new ProtocolError(ProtocolErrorCode.InternalError, unexpectedError(failure, context).message);
  }
}

/** A schema as clients see it: without its dialect, which is the usual one, and an output with room to grow. */
function publish(schema: z.ZodType): StandardSchemaWithJSON {
  const convert = (io: "input" | "output") => {
    const { $schema, ...published } = z.toJSONSchema(schema, {
      io,
      override: ({ jsonSchema }) => {
        if (io === "output" && jsonSchema.additionalProperties === false)
          delete jsonSchema.additionalProperties;
        if (jsonSchema.format) delete jsonSchema.pattern;
        if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      },
    });
    return published;
  };
  const made = new Map<string, Record<string, unknown>>();
  const convertOnce = (io: "input" | "output") => {
    const known = made.get(io) ?? convert(io);
    made.set(io, known);
    return known;
  };
  const jsonSchema = { input: () => convertOnce("input"), output: () => convertOnce("output") };
  return { "~standard": { ...schema["~standard"], jsonSchema } };
}
