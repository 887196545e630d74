import { bodyLimits, inKibibytes, quotas } from "@/lib/config/limits";
import type { DocumentPage } from "@/lib/docs/document";
import { linkToPage, to } from "@/lib/docs/links";
import { code, placeholderAddress, table } from "@/lib/docs/markdown";
import { sessionLimits, tokenSafety } from "@/lib/docs/words";
import { documentPages, pages } from "@/lib/http/pages";

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
    ["`search_docs`", "nothing", "where these documents speak of something"],
    ["`get_doc`", "nothing", "the text of a document, or of one section"],
  ],
)}

No tool changes anything. ${sessionLimits}

## Connecting

A client needs nothing but the address. Connecting, the documents, health and the banner need no sign-in; when it first reads your account it opens our approval page in your browser, you sign in and approve, and from then on it renews its token by itself, for a week at most. Nothing is pasted, and no line below holds a token. What a client was given it keeps itself: in the system's keychain, or, where there is none, in a file under your home folder (Claude Code, Codex, \`mcp-remote\`). ${linkToPage(pages.home)} lists what you have let in, and ends it.

### Claude Code

${code("console", `claude mcp add --transport http corner-office ${address}\nclaude mcp login corner-office`)}

\`/mcp\` in a session leads to the approval too.

### Codex

${code("console", `codex mcp add corner-office --url ${address}\ncodex mcp login corner-office`)}

### VS Code

In \`.vscode/mcp.json\`:

${json({ servers: { "corner-office": { type: "http", url: address } } })}

### Cursor

In \`~/.cursor/mcp.json\`:

${json({ mcpServers: { "corner-office": { url: address } } })}

### Claude and ChatGPT

Add a custom connector with the address \`${address}\`.

### Clients that start a program

For those that speak to a program alone, \`mcp-remote\` stands between. It does not publish who it is, so it comes as the client for any program on your own computer:

${code("console", `npx mcp-remote ${address} --static-oauth-client-info '{"client_id":"native"}'`)}

### The Inspector

${code("console", `npx @modelcontextprotocol/inspector --cli ${address} --transport http --client-id native --method tools/list`)}

### With a token of your own

A client that knows no way to ask can send [a token](${to.authentication}) as \`Authorization: Bearer <SESSION_TOKEN>\`. Have it read the token from its environment or ask for it, never from a file. It lives an hour at most. The cookie of a browser is never looked at.

## Without a client

${code(
  "sh",
  `curl -sS --fail-with-body "$CORNER_OFFICE_URL/mcp" \\
  -H "Content-Type: application/json" -H "Accept: application/json, text/event-stream" \\
  -d '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'`,
)}

## Limits and errors

${quotas.mcp.requests} requests per ${quotas.mcp.windowSeconds} seconds and address, shared by both paths; [the headers](${to.limits}#headers) are those of the API, under the name \`mcp\`. A body over ${inKibibytes(bodyLimits.mcp)} is a [\`413\`](${to.errors}#too_large). A tool that reads an account answers a \`401\` with a challenge where no good token is sent; nothing else does, so a token that is over takes no document away. A no, such as that of a trial that has ended, is an answer with the same fields as the API's; what could not be told is \`isError\` with the same \`code\`, \`message\`, \`hint\` and \`docs\`.

${tokenSafety}
`,
};
