import { settings } from "@/lib/config/settings";
import { documents } from "@/lib/docs/documents";
import { publish } from "@/lib/docs/publication-handler";
import { sessionLimits, tokenSafety } from "@/lib/docs/words";
import { markdownPath } from "@/lib/http/register/pages";
import { clientFiles, publications } from "@/lib/http/register/publications";

/** The entry point for assistants (llmstxt.org): a summary, and a link to each document in Markdown. */
export const { GET, HEAD, OPTIONS } = publish(publications.llms, () => {
  const { appUrl } = settings();
  const lines = documents.map(
    ({ path, title, summary }) => `- [${title}](${appUrl}${markdownPath(path)}): ${summary}`,
  );
  const clients = Object.values(clientFiles).map(
    ({ path }) => `- [${path.split("/").at(-1)}](${appUrl}${path}): a complete client, in one file`,
  );
  const body = `# Corner Office

> The public HTTP API of Corner Office, where a person (the CEO) runs a company of AI assistants: health, the site's banner, whether an account may run, its credits, and one-click unsubscribe.

${sessionLimits} ${tokenSafety}

## Documents

${lines.join("\n")}

## For programs

- [All documents in one text](${appUrl}${publications.llmsFull.path}): Markdown
- [API description](${appUrl}${publications.openApi.path}): OpenAPI 3.1
- [MCP server](${appUrl}/mcp): JSON by POST; asks for sign-in when an account is read
- [MCP server for accounts](${appUrl}/mcp/account): the same, for clients that sign in only when connecting
${clients.join("\n")}
- [API catalog](${appUrl}${publications.apiCatalog.path}): RFC 9727
`;
  return { mediaType: "text/plain; charset=utf-8", body };
});
