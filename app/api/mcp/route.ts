import { mcpEndpoint } from "@/lib/mcp/handler";

export const { POST, OPTIONS } = mcpEndpoint("/api/mcp");
