import { publish } from "@/lib/docs/publication-handler";
import { publications } from "@/lib/http/pages";
import { protectedResourceMetadata } from "@/lib/oauth/metadata";

/** The metadata of the resource `/mcp/account`, which names its authorization server (RFC 9728 §3.1). */
export const GET = publish(publications.mcpAccountResource, () => ({
  type: "application/json",
  body: JSON.stringify(protectedResourceMetadata("/mcp/account")),
}));
