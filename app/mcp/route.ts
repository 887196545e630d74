import { mcpEndpoint } from "@/lib/mcp/endpoint";

export const { POST, OPTIONS } = mcpEndpoint("/mcp");
