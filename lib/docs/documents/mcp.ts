import { documentPages } from "@/lib/api/pages";
import type { DocumentPage } from "@/lib/docs/document";
import { code, placeholderAddress, table } from "@/lib/docs/markdown";
import { whatSessionsCannotDo, whereTokensNeverGo } from "@/lib/docs/words";
import { bodyLimits, inKibibytes, quotas } from "@/lib/settings/limits";

const address = `${placeholderAddress}/mcp`;
const json = (value: object) => code("json", JSON.stringify(value, null, 2));

export const mcp: DocumentPage = {
  path: documentPages.mcp.path,
  title: "MCP",
  group: "Agents",
  summary: "Connecting an assistant's client to the MCP server, and the tools it finds there.",
  markdown: () => `# MCP

The same answers for an assistant: an MCP server at \`/mcp\`, and at \`/api/mcp\`, which is the same one. It takes JSON by \`POST\`, keeps no session between requests and serves protocol 2026-07-28 as well as 2025-11-25 and earlier.

## Tools

${table(
  ["Tool", "Needs", "Answers"],
  [
    ["`get_health`", "nothing", "that the web app is up"],
    ["`get_site_banner`", "nothing", "the notice at the top of the site"],
    ["`get_entitlement`", "a token", "whether the account may run"],
    ["`get_credits_balance`", "a token", "the account's credits"],
    ["`search_docs`, `search`", "nothing", "where these documents speak of something"],
    ["`get_doc`, `fetch`", "nothing", "the text of one document"],
  ],
)}

No tool changes anything. ${whatSessionsCannotDo}

## Connecting

Any client that speaks MCP over HTTP connects with the address alone; the tools that read an account need [a token](/docs/authentication) in the \`Authorization\` header. The cookie of a browser is never looked at.

### Claude Code

${code("console", `claude mcp add --transport http corner-office ${address} --header "Authorization: Bearer $CORNER_OFFICE_TOKEN"`)}

### VS Code

In \`.vscode/mcp.json\`. It asks for the token once and keeps it out of the file.

${json({
  inputs: [
    { type: "promptString", id: "corner-office-token", description: "Corner Office token", password: true },
  ],
  servers: {
    "corner-office": {
      type: "http",
      url: address,
      // biome-ignore lint/suspicious/noTemplateCurlyInString: VS Code puts in what it asked for.
      headers: { Authorization: "Bearer ${input:corner-office-token}" },
    },
  },
})}

### Cursor

In \`~/.cursor/mcp.json\`, with the token in the environment.

${json({
  mcpServers: {
    "corner-office": {
      url: address,
      // biome-ignore lint/suspicious/noTemplateCurlyInString: Cursor puts in what the environment has.
      headers: { Authorization: "Bearer ${env:CORNER_OFFICE_TOKEN}" },
    },
  },
})}

### Claude and ChatGPT

Add a custom connector with the address \`${address}\` and no sign-in. Health, the banner and these documents work; tools that read an account need a client that can send a header.

## Without a client

${code(
  "sh",
  `curl -sS --fail-with-body "$CORNER_OFFICE_URL/mcp" \\
  -H "Content-Type: application/json" -H "Accept: application/json, text/event-stream" \\
  -d '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'`,
)}

## Limits and errors

${quotas.mcp.requests} requests per ${quotas.mcp.windowSeconds} seconds and address, shared by both paths; [the headers](/docs/api/limits#headers) are those of the API, under the name \`mcp\`. A body over ${inKibibytes(bodyLimits.mcp)} is a [\`413\`](/docs/api/errors#too_large). A tool that is refused answers \`isError\` with the same \`code\`, \`message\`, \`hint\` and \`docs\` as the API; a bad token is a \`401\` with a challenge.

${whereTokensNeverGo}
`,
};
