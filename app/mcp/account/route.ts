import { mcpEndpoint } from "@/lib/mcp/handler";

export const { POST, OPTIONS } = mcpEndpoint("/mcp/account");
