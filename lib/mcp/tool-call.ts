import {
  type CallToolResult,
  type InboundClassificationOutcome,
  SERVER_INFO_META_KEY,
} from "@modelcontextprotocol/server";
import type { Caller } from "@/lib/accounts/caller";
import { unexpected } from "@/lib/api/endpoint";
import { ApiError } from "@/lib/api/errors";
import type { Visit } from "@/lib/api/visit";
import { describeServer } from "@/lib/mcp/identity";
import type { Message } from "@/lib/mcp/params";
import { type Tool, tools } from "@/lib/mcp/tools";

/** A call that nothing is wrong with. */
type PlainCall = { tool: Tool; input: unknown; id: string | number; isOfNewest: boolean };

/**
 * Reads the call of a tool in its plain form, which is nearly all that a client sends: it is answered here, as the
 * protocol's library would, at a fifth of the cost. `undefined` for all else, which that has words for.
 *
 * @param message - whose params are sound
 * @param route - what the library takes it for
 */
export function readPlainCall(
  { method, id, params = {} }: Message,
  route: InboundClassificationOutcome,
  sent: Headers,
): PlainCall | undefined {
  const { name, arguments: given = {}, _meta, ...others } = params;
  if (method !== "tools/call" || id === undefined || Object.keys(others).length > 0) return undefined;
  const tool = tools.find((known) => known.name === name);
  const isOfNewest = route.kind === "modern" && saysItAll(route.classification.revision, name, sent);
  if (!tool || !(isOfNewest || route.kind === "legacy")) return undefined;
  const input = tool.input.safeParse(given);
  return input.success ? { tool, input: input.data, id, isOfNewest } : undefined;
}

/** Whether the headers repeat a message of 2026-07-28 in plain letters. The library has compared the first two. */
function saysItAll(revision: string | undefined, name: unknown, sent: Headers): boolean {
  return (
    revision === "2026-07-28" &&
    sent.get("mcp-protocol-version") !== null &&
    sent.get("mcp-method") !== null &&
    sent.get("mcp-name") === name
  );
}

/** The answer to a plain call. */
export async function answerPlainCall(
  { tool, input, id, isOfNewest }: PlainCall,
  caller: Caller,
  visit: Visit,
): Promise<object> {
  const called = await callTool(tool, input, caller, visit);
  const result = isOfNewest
    ? { ...called, resultType: "complete", _meta: { [SERVER_INFO_META_KEY]: describeServer() } }
    : called;
  return { result, jsonrpc: "2.0", id };
}

/**
 * Calls a tool. A no is an answer; that nothing could be told is an error, for the model to read as well, and a failure
 * nobody foresaw has fixed words.
 *
 * @param input - parsed by the tool's own schema
 */
export async function callTool(
  tool: Tool,
  input: unknown,
  caller: Caller,
  visit: Visit,
): Promise<CallToolResult> {
  try {
    const found = await tool.run(input as never, caller);
    if (typeof found === "string") return { content: [{ type: "text", text: found }] };
    return resultOf(tool.output?.parse(found) as object, true);
  } catch (thrown) {
    const error = thrown instanceof ApiError ? thrown : unexpected(thrown, visit);
    const body = error.toJSON();
    // Some clients hold even an error to the output schema: where that has no room for it, the text alone is sent.
    const result = resultOf(body, tool.output?.safeParse(body).success === true);
    if (error.status === 403) return result;
    const wait = error.headers["retry-after"];
    if (wait) result.content.push({ type: "text", text: `Wait ${wait} seconds before you try again.` });
    return { ...result, isError: true };
  }
}

function resultOf(body: object, isAsPublished: boolean): CallToolResult {
  const text = { type: "text", text: JSON.stringify(body) } as const;
  return { content: [text], ...(isAsPublished && { structuredContent: body }) };
}
