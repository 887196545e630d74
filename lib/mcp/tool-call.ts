import { type CallToolResult, SERVER_INFO_META_KEY } from "@modelcontextprotocol/server";
import type { Caller } from "@/lib/accounts/caller";
import { inSeconds } from "@/lib/config/durations";
import type { Call, SentHeaders } from "@/lib/http/call";
import { ApiError } from "@/lib/http/errors";
import { unexpectedError } from "@/lib/http/handler";
import { eraOf, plainCall } from "@/lib/mcp/protocol-version";
import { describeServer } from "@/lib/mcp/server-info";
import { type Tool, tools } from "@/lib/mcp/tools";

/** A valid tool call. */
export type SimpleCall = { tool: Tool; input: unknown; id: string | number; isModern: boolean };

/**
 * Parses a valid tool call, the most frequent message: we answer it as the MCP library would, at a fifth of the cost.
 * `undefined` for any other message, wrong arguments included, which the library answers (`server.ts`, `params.ts`).
 */
export function parseSimpleCall(message: unknown, headers: SentHeaders): SimpleCall | undefined {
  const { data } = plainCall.safeParse(message);
  if (!data) return undefined;
  const { id, params } = data;
  const tool = tools.find(({ name }) => name === params.name);
  const era = tool && eraOf(data, headers);
  if (!era) return undefined;
  const input = tool.input.safeParse(params.arguments ?? {});
  return input.success ? { tool, input: input.data, id, isModern: era === "modern" } : undefined;
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
  request: Pick<Call, "requestId">,
): Promise<CallToolResult> {
  try {
    const found = await tool.run(input as never, caller);
    if (typeof found === "string") return { content: [{ type: "text", text: found }] };
    return resultOf(tool.output?.parse(found) as object, true);
  } catch (thrown) {
    const error = thrown instanceof ApiError ? thrown : unexpectedError(thrown, request);
    const body = error.toJSON();
    // Some clients validate errors against the output schema too, so an error that does not fit is sent as text only.
    const result = resultOf(body, tool.output?.safeParse(body).success === true);
    if (error.status === 403) return result;
    const wait = error.headers["retry-after"];
    if (wait)
      result.content.push({ type: "text", text: `Wait ${inSeconds(Number(wait))} before trying again.` });
    return { ...result, isError: true };
  }
}

/** The result of a tool: a body, as text and, where it fits, structured. */
export function resultOf(body: object, matchesSchema: boolean): CallToolResult {
  const text = { type: "text", text: JSON.stringify(body) } as const;
  return { content: [text], ...(matchesSchema && { structuredContent: body }) };
}
