import {
  type CallToolResult,
  McpServer,
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  type StandardSchemaWithJSON,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import type { Caller } from "@/lib/accounts/caller";
import { unexpected } from "@/lib/api/endpoint";
import { ApiError } from "@/lib/api/errors";
import { files } from "@/lib/api/pages";
import type { Visit } from "@/lib/api/visit";
import { whatSessionsCannotDo } from "@/lib/docs/words";
import type { Message } from "@/lib/mcp/params";
import { prompts } from "@/lib/mcp/prompts";
import { type Resource, resources, sizeOf } from "@/lib/mcp/resources";
import { type Tool, tools } from "@/lib/mcp/tools";
import { settings } from "@/lib/settings/settings";

/** What a model is told of the service before it uses a tool. */
export const instructions = `Corner Office is where a person, the CEO, runs a company of AI assistants. This server reads; none of its tools changes anything.

- Questions about the HTTP API, its error codes, limits or versions: search_docs first, then get_doc for the whole text.
- get_health, get_site_banner and the documents need no sign-in. get_entitlement and get_credits_balance read an account: on the first call the client asks its owner, in a browser, to let it in, and keeps its token by itself.
- ${whatSessionsCannotDo} Do not offer them.
- A token never goes into a chat, an issue or a log. Never ask for one in the conversation, and never repeat one.
- After a 429, wait the seconds that it names.`;

const fiveMinutesMs = 5 * 60 * 1000;
/** Nothing listed or read here depends on who asks; what does is a tool's. */
const forEveryone = { ttlMs: fiveMinutesMs, cacheScope: "public" } as const;

/** Resources are there for the person to pick from and for the model to read. */
const audience: ("user" | "assistant")[] = ["user", "assistant"];

/** What the server says of itself. */
export function describeServer() {
  const { appUrl } = settings();
  return {
    name: "corner-office",
    title: "Corner Office",
    version: "1.0.0",
    websiteUrl: appUrl,
    icons: [
      { src: appUrl + files.touchIcon.path, mimeType: "image/png", sizes: ["180x180"] },
      { src: appUrl + files.vectorIcon.path, mimeType: "image/svg+xml", sizes: ["any"] },
    ],
  };
}

/**
 * The MCP server of one request. Every request gets its own, so that none sees another's caller.
 *
 * @param asked - its message: the call of a tool needs no more than that one
 */
export function createMcpServer(caller: Caller, visit: Visit, asked: Message): McpServer {
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
  const called = asked.method === "tools/call" && listed.find(({ tool }) => tool.name === asked.params?.name);
  for (const { tool, about } of called ? [called] : listed) {
    server.registerTool(tool.name, about, (sent) => callTool(tool, sent, caller, visit));
  }
  if (called) return server;
  for (const resource of resources) {
    const { name, uri, title, description, mimeType } = resource;
    const about = { title, description, mimeType, size: sizeOf(resource), annotations: { audience } };
    server.registerResource(name, uri, about, () => readResource(resource, visit));
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
    ...{ title, description, annotations, inputSchema: publish(input) },
    ...(output && { outputSchema: publish(output) }),
  };
  return { tool, about };
});

/**
 * Calls a tool. A no is an answer; that nothing could be told is an error, for the model to read as well, and a failure
 * nobody foresaw has fixed words.
 */
async function callTool(tool: Tool, input: unknown, caller: Caller, visit: Visit): Promise<CallToolResult> {
  try {
    const found = await tool.run(input as never, caller);
    if (typeof found === "string") return { content: [{ type: "text", text: found }] };
    return resultOf(tool, tool.output?.parse(found) as object);
  } catch (thrown) {
    const error = thrown instanceof ApiError ? thrown : unexpected(thrown, visit);
    const result = resultOf(tool, error.toJSON());
    if (error.status === 403) return result;
    const wait = error.headers["retry-after"];
    if (wait) result.content.push({ type: "text", text: `Wait ${wait} seconds before you try again.` });
    return { ...result, isError: true };
  }
}

/** Some clients hold even an error to the output schema: where that has no room for it, the text alone is sent. */
function resultOf({ output }: Tool, body: object): CallToolResult {
  const text = { type: "text", text: JSON.stringify(body) } as const;
  return { content: [text], ...(output?.safeParse(body).success && { structuredContent: body }) };
}

function readResource({ uri, mimeType, read }: Resource, visit: Visit): ReadResourceResult {
  try {
    return { contents: [{ uri, mimeType, text: read() }] };
  } catch (failure) {
    throw new ProtocolError(ProtocolErrorCode.InternalError, unexpected(failure, visit).message);
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
