import { type CallToolResult, SERVER_INFO_META_KEY } from "@modelcontextprotocol/server";
import type { Caller } from "@/lib/accounts/caller";
import { ApiError } from "@/lib/http/errors";
import { unexpectedError } from "@/lib/http/handler";
import type { RequestContext } from "@/lib/http/request-context";
import { classify, unknownRevision } from "@/lib/mcp/classification";
import { findParamsProblem } from "@/lib/mcp/params";
import { describeServer } from "@/lib/mcp/server-info";
import { type Tool, tools } from "@/lib/mcp/tools";
import { LruCache } from "@/lib/runtime/lru-cache";

/** A call that nothing is wrong with. */
type SimpleCall = { tool: Tool; input: unknown; id: string | number; isOfNewest: boolean };

/**
 * Reads the call of a tool in its plain form, which is nearly all that a client sends: it is answered here, as the
 * protocol's library would, at a fifth of the cost. `undefined` for all else, which that has words for.
 *
 * @param sent - the headers that it came with
 */
export function parseSimpleCall(message: unknown, sent: Headers): SimpleCall | undefined {
  if (!isPlain(message)) return undefined;
  const { id, params } = message;
  const tool = tools.find(({ name }) => name === params.name);
  const era = tool && eraOf(message, sent);
  if (!era) return undefined;
  const input = tool.input.safeParse(params.arguments ?? {});
  return input.success ? { tool, input: input.data, id, isOfNewest: era === "newest" } : undefined;
}

type PlainMessage = {
  method: string;
  id: string | number;
  params: { name: string; arguments?: unknown; _meta?: Record<string, unknown> };
};

function isPlain(message: unknown): message is PlainMessage {
  if (!hasOnly(message, ["jsonrpc", "id", "method", "params"])) return false;
  const { jsonrpc, id, method, params } = message;
  if (jsonrpc !== "2.0" || method !== "tools/call" || !isName(id)) return false;
  if (!hasOnly(params, ["name", "arguments", "_meta"])) return false;
  const { arguments: given = {}, _meta: meta = {} } = params;
  return (
    isRecord(given) && isRecord(meta) && (meta.progressToken === undefined || isName(meta.progressToken))
  );
}

type Fields = Record<string, unknown>;

const isName = (value: unknown) => typeof value === "string" || Number.isSafeInteger(value);
const isRecord = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const hasOnly = (value: unknown, names: string[]): value is Fields =>
  isRecord(value) && Object.keys(value).every((name) => names.includes(name));

type Era = "newest" | "older";

// What a client says of itself it says with every call; what the library held of that is remembered.
const cached = new LruCache<{ era: Era | undefined }>(200);
const maxRemembered = 2048; // characters

/** The era that a plain message belongs to with all that it says of itself; `undefined` where the library must answer. */
function eraOf(message: PlainMessage, sent: Headers): Era | undefined {
  const { name, _meta: { progressToken, ...meta } = {} } = message.params;
  const headers = ["mcp-protocol-version", "mcp-method", "mcp-name"].map((header) => sent.get(header));
  const said = JSON.stringify([name, meta, headers]);
  const known = cached.get(said);
  if (known) return known.era;
  const era = validate(message, sent);
  if (said.length <= maxRemembered) cached.set(said, { era });
  return era;
}

function validate(message: PlainMessage, sent: Headers): Era | undefined {
  const route = classify(sent, message);
  if (findParamsProblem(message)) return undefined;
  if (route.kind === "legacy") return unknownRevision(sent) === undefined ? "older" : undefined;
  const isSaid = route.kind === "modern" && saysItAll(route.classification.revision, message, sent);
  return isSaid ? "newest" : undefined;
}

/** Whether the headers repeat a message of 2026-07-28 in plain letters. The library has compared the first two. */
function saysItAll(revision: string | undefined, { params }: PlainMessage, sent: Headers): boolean {
  return (
    revision === "2026-07-28" &&
    sent.get("mcp-protocol-version") !== null &&
    sent.get("mcp-method") !== null &&
    sent.get("mcp-name") === params.name
  );
}

/** The answer to a plain call. */
export async function runSimpleCall(
  { tool, input, id, isOfNewest }: SimpleCall,
  caller: Caller,
  context: RequestContext,
): Promise<object> {
  const called = await callTool(tool, input, caller, context);
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
  context: RequestContext,
): Promise<CallToolResult> {
  try {
    const found = await tool.run(input as never, caller);
    if (typeof found === "string") return { content: [{ type: "text", text: found }] };
    return resultOf(tool.output?.parse(found) as object, true);
  } catch (thrown) {
    const error = thrown instanceof ApiError ? thrown : unexpectedError(thrown, context);
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
