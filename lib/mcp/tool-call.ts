import {
  type CallToolResult,
  classifyInboundRequest,
  type InboundClassificationOutcome,
  type InboundHttpRequest,
  SERVER_INFO_META_KEY,
  SUPPORTED_PROTOCOL_VERSIONS,
} from "@modelcontextprotocol/server";
import * as z from "zod";
import type { Caller } from "@/lib/accounts/caller";
import { ApiError } from "@/lib/http/errors";
import { unexpectedError } from "@/lib/http/handler";
import type { RequestContext } from "@/lib/http/request-context";
import { findParamsProblem, type Message } from "@/lib/mcp/params";
import { describeServer } from "@/lib/mcp/server-info";
import { type Tool, tools } from "@/lib/mcp/tools";
import { RecentCache } from "@/lib/runtime/recent-cache";

/** A valid tool call. */
export type SimpleCall = { tool: Tool; input: unknown; id: string | number; isModern: boolean };

/**
 * Parses a valid tool call, the most frequent message: we answer it as the MCP library would, at a fifth of the cost.
 * `undefined` for any other message, wrong arguments included, which the library answers (`server.ts`, `params.ts`).
 */
export function parseSimpleCall(message: unknown, headers: Headers): SimpleCall | undefined {
  const { data } = plainMessage.safeParse(message);
  if (!data) return undefined;
  const { id, params } = data;
  const tool = tools.find(({ name }) => name === params.name);
  const era = tool && eraOf(data, headers);
  if (!era) return undefined;
  const input = tool.input.safeParse(params.arguments ?? {});
  return input.success ? { tool, input: input.data, id, isModern: era === "modern" } : undefined;
}

const id = z.union([z.string(), z.int()]);

/** A message without anything that only the library knows. */
const plainMessage = z.strictObject({
  jsonrpc: z.literal("2.0"),
  id,
  method: z.literal("tools/call"),
  params: z.strictObject({
    name: z.string(),
    arguments: z.record(z.string(), z.unknown()).optional(),
    _meta: z.looseObject({ progressToken: id.optional() }).optional(),
  }),
});

type PlainMessage = z.infer<typeof plainMessage>;

type Era = "modern" | "legacy";

// A client repeats its metadata in every call, so the result of its validation is cached.
const cached = new RecentCache<{ era: Era | undefined }>(200);
const maxKeyCharacters = 2048;

/** The protocol era of a valid call; `undefined` if the library must answer. */
function eraOf(message: PlainMessage, headers: Headers): Era | undefined {
  // These differ in every call, and no rule reads more of them than their type.
  const { name, _meta: { progressToken, traceparent, ...meta } = {} } = message.params;
  const values = ["mcp-protocol-version", "mcp-method", "mcp-name"].map((header) => headers.get(header));
  const key = JSON.stringify([name, meta, typeof traceparent, values]);
  const known = cached.get(key);
  if (known) return known.era;
  const era = validate(message, headers);
  if (key.length <= maxKeyCharacters) cached.set(key, { era });
  return era;
}

function validate(message: PlainMessage, headers: Headers): Era | undefined {
  const route = classify(headers, message);
  if (findParamsProblem(message)) return undefined;
  if (route.kind === "legacy") {
    const version = headers.get("mcp-protocol-version");
    return version === null || SUPPORTED_PROTOCOL_VERSIONS.includes(version) ? "legacy" : undefined;
  }
  if (route.kind !== "modern" || route.classification.revision !== "2026-07-28") return undefined;
  // The library has compared the first two with the message, but not demanded them.
  const isSent = headers.has("mcp-protocol-version") && headers.has("mcp-method");
  return isSent && headers.get("mcp-name") === message.params.name ? "modern" : undefined;
}

/** The MCP library's classification of a message and its headers. */
export function classify(headers: Headers, body: Message): InboundClassificationOutcome {
  const header = (name: string) => headers.get(name) ?? undefined;
  return classifyInboundRequest({
    httpMethod: "POST",
    body,
    protocolVersionHeader: header("mcp-protocol-version"),
    mcpMethodHeader: header("mcp-method"),
    mcpNameHeader: header("mcp-name"),
  } as InboundHttpRequest);
}

/** The answer to a valid tool call. */
export function toMessage({ id, isModern }: SimpleCall, called: CallToolResult): object {
  if (!isModern) return { result: called, jsonrpc: "2.0", id };
  const _meta = { ...called._meta, [SERVER_INFO_META_KEY]: describeServer() };
  return { result: { ...called, resultType: "complete", _meta }, jsonrpc: "2.0", id };
}

/** A 403 is a normal result; any other failure is an `isError` for the model, with fixed words if unexpected. */
export async function callTool(
  tool: Tool,
  input: unknown,
  caller: Caller,
  context: RequestContext,
): Promise<CallToolResult> {
  try {
    const found = await tool.run(input as never, caller);
    if (typeof found === "string") return { content: [{ type: "text", text: found }] };
    return resultOf(tool.output?.parse(found) as object, true);
  } catch (thrown) {
    const error = thrown instanceof ApiError ? thrown : unexpectedError(thrown, context);
    const body = error.toJSON();
    // Some clients validate errors against the output schema too, so an error that does not fit is sent as text only.
    const result = resultOf(body, tool.output?.safeParse(body).success === true);
    if (error.status === 403) return result;
    const wait = error.headers["retry-after"];
    if (wait) result.content.push({ type: "text", text: `Wait ${wait} seconds before trying again.` });
    return { ...result, isError: true };
  }
}

/** The result of a tool: a body, as text and, where it fits, structured. */
export function resultOf(body: object, matchesSchema: boolean): CallToolResult {
  const text = { type: "text", text: JSON.stringify(body) } as const;
  return { content: [text], ...(matchesSchema && { structuredContent: body }) };
}
