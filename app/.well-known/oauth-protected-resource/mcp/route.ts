import { publish } from "@/lib/docs/publication-handler";
import { publications } from "@/lib/http/pages";
import { protectedResourceMetadata } from "@/lib/oauth/metadata";

/** Where a client that was refused at `/mcp` finds who lets it in (RFC 9728 §3.1). */
export const GET = publish(publications.mcpResource, () => ({
  type: "application/json",
  body: JSON.stringify(protectedResourceMetadata("/mcp")),
}));
