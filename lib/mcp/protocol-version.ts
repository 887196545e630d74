import {
  classifyInboundRequest,
  type InboundClassificationOutcome,
  type InboundHttpRequest,
  SUPPORTED_PROTOCOL_VERSIONS,
} from "@modelcontextprotocol/server";
import * as z from "zod";
import type { SentHeaders } from "@/lib/http/call";
import { findParamsProblem, type Message } from "@/lib/mcp/params";
import { RecentCache } from "@/lib/runtime/recent-cache";

const id = z.union([z.string(), z.int()]);

/** A tool call without anything that only the library knows. */
export const plainCall = z.strictObject({
  jsonrpc: z.literal("2.0"),
  id,
  method: z.literal("tools/call"),
  params: z.strictObject({
    name: z.string(),
    arguments: z.record(z.string(), z.unknown()).optional(),
    _meta: z.looseObject({ progressToken: id.optional() }).optional(),
  }),
});

type PlainCall = z.infer<typeof plainCall>;

type Era = "modern" | "legacy";

// A client repeats its metadata in every call, so the result of its validation is cached.
const cached = new RecentCache<{ era: Era | undefined }>(200);
const maxKeyCharacters = 2048;

/** The protocol era of a valid call; `undefined` if the library must answer. */
export function eraOf(message: PlainCall, headers: SentHeaders): Era | undefined {
  // These differ in every call, and no rule reads more of them than their type.
  const { name, _meta: { progressToken, traceparent, ...meta } = {} } = message.params;
  const values = (["mcp-protocol-version", "mcp-method", "mcp-name"] as const).map((header) =>
    headers.get(header),
  );
  const key = JSON.stringify([name, meta, typeof traceparent, values]);
  const known = cached.get(key);
  if (known) return known.era;
  const era = validate(message, headers);
  if (key.length <= maxKeyCharacters) cached.set(key, { era });
  return era;
}

function validate(message: PlainCall, headers: SentHeaders): Era | undefined {
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

/** The headers, in which a version that is sent twice counts once: Claude Code does (lowdefy/lowdefy#2345). */
export function withVersionOnce(headers: SentHeaders): SentHeaders {
  const sent = headers.get("mcp-protocol-version");
  if (!sent?.includes(",")) return headers;
  const [version = "", another] = new Set(sent.split(/, */));
  if (another !== undefined) return headers;
  const own = new Headers([...headers]);
  own.set("mcp-protocol-version", version);
  return own;
}

/** The MCP library's classification of a message and its headers. */
export function classify(headers: SentHeaders, body: Message): InboundClassificationOutcome {
  const header = (name: Lowercase<string>) => headers.get(name) ?? undefined;
  return classifyInboundRequest({
    httpMethod: "POST",
    body,
    protocolVersionHeader: header("mcp-protocol-version"),
    mcpMethodHeader: header("mcp-method"),
    mcpNameHeader: header("mcp-name"),
  } as InboundHttpRequest);
}
