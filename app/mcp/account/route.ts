import { toPlatform } from "@/lib/http/platform";
import { mcpEndpoint } from "@/lib/mcp/handler";

export const { POST, OPTIONS } = toPlatform(mcpEndpoint("/mcp/account"));
