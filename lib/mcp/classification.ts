import {
  classifyInboundRequest,
  type InboundClassificationOutcome,
  type InboundHttpRequest,
  SUPPORTED_PROTOCOL_VERSIONS,
} from "@modelcontextprotocol/server";
import type { Message } from "@/lib/mcp/params";

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

/** The protocol version that the headers name, if it is not one of those before 2026-07-28. */
export function unknownRevision(headers: Headers): string | undefined {
  const version = headers.get("mcp-protocol-version");
  return version === null || SUPPORTED_PROTOCOL_VERSIONS.includes(version) ? undefined : version;
}
