import {
  classifyInboundRequest,
  type InboundClassificationOutcome,
  SUPPORTED_PROTOCOL_VERSIONS,
} from "@modelcontextprotocol/server";
import type { Message } from "@/lib/mcp/params";

/** What the library takes a message for, by itself and by the headers that repeat it. */
export function classify(sent: Headers, body: Message): InboundClassificationOutcome {
  const [protocolVersionHeader, mcpMethodHeader, mcpNameHeader] = [
    "mcp-protocol-version",
    "mcp-method",
    "mcp-name",
  ].map((name) => sent.get(name) ?? undefined);
  return classifyInboundRequest({
    httpMethod: "POST",
    body,
    ...(protocolVersionHeader !== undefined && { protocolVersionHeader }),
    ...(mcpMethodHeader !== undefined && { mcpMethodHeader }),
    ...(mcpNameHeader !== undefined && { mcpNameHeader }),
  });
}

/** The revision that the headers name, where it is none of those before 2026-07-28. */
export function unknownRevision(sent: Headers): string | undefined {
  const version = sent.get("mcp-protocol-version");
  return version === null || SUPPORTED_PROTOCOL_VERSIONS.includes(version) ? undefined : version;
}
