import { settings } from "@/lib/config/settings";
import { publish } from "@/lib/docs/publication-handler";
import { mcpServer } from "@/lib/http/operations";
import { publications } from "@/lib/http/pages";
import { describeServer } from "@/lib/mcp/server-info";

/** The MCP server's `server.json`, in the format of the MCP registry, named after our host. */
export const GET = publish(publications.mcpServer, () => {
  const { appUrl } = settings();
  const { name, ...described } = describeServer();
  const host = new URL(appUrl).hostname.split(".").reverse().join(".");
  const entry = {
    $schema: "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
    name: `${host}/${name}`,
    description: "Whether your company of AI assistants may run, its credits, and the documents of its API.",
    ...described,
    remotes: mcpServer.paths.slice(0, 1).map((path) => ({ type: "streamable-http", url: appUrl + path })),
  };
  return { type: "application/json", body: JSON.stringify(entry) };
});
