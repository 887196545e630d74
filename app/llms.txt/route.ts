import { documents } from "@/lib/docs/documents";
import { publish } from "@/lib/docs/publish";
import { whatSessionsCannotDo, whereTokensNeverGo } from "@/lib/docs/words";
import { settings } from "@/lib/settings/settings";

/** What an assistant reads first (llmstxt.org): what this is, and where each document is in Markdown. */
export function GET(request: Request): Response {
  const { appUrl } = settings();
  const lines = documents.map(({ path, title, summary }) => `- [${title}](${appUrl}${path}.md): ${summary}`);
  const body = `# Corner Office

> The public HTTP API of Corner Office, where a person (the CEO) runs a company of AI assistants: health, the site's banner, whether an account may run, its credits, and one-click unsubscribe.

${whatSessionsCannotDo} ${whereTokensNeverGo}

## Documents

${lines.join("\n")}

## For programs

- [API description](${appUrl}/openapi.json): OpenAPI 3.1
- [MCP server](${appUrl}/mcp): JSON by POST
- [API catalog](${appUrl}/.well-known/api-catalog): RFC 9727
`;
  return publish(request, { type: "text/plain; charset=utf-8", body });
}
