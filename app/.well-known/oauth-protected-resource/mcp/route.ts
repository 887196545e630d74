import { publications } from "@/lib/api/pages";
import { protectedResourceMetadata } from "@/lib/connect/metadata";
import { publish } from "@/lib/docs/publish";

/** Where a client that was refused at `/mcp` finds who lets it in (RFC 9728 §3.1). */
export const GET = publish(publications.mcpResource, () => ({
  type: "application/json",
  body: JSON.stringify(protectedResourceMetadata("/mcp")),
}));
