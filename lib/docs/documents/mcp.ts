import { describeSeconds } from "@/lib/config/durations";
import { oauthSeconds, sessionDays } from "@/lib/config/lifetimes";
import { bodyLimits, inKibibytes, quotas } from "@/lib/config/limits";
import { settings } from "@/lib/config/settings";
import type { DocumentText } from "@/lib/docs/document";
import { code, json, linkToPage, table, to } from "@/lib/docs/markdown";
import { knownClients, mcpClients, triedOn } from "@/lib/docs/mcp-clients";
import { noPayments, sessionLimits, tokenSafety } from "@/lib/docs/words";
import { connectEndpoints } from "@/lib/http/register/oauth";
import { pages } from "@/lib/http/register/pages";
import { accountScope } from "@/lib/oauth/resources";

const { authorization, token, registration } = connectEndpoints;

export const mcp: DocumentText = {
  title: "MCP",
  group: "Agents",
  summary: "How to connect an assistant to the MCP server, and its tools.",
  markdown: () => describe(mcpClients(settings().appUrl)),
};

type Clients = ReturnType<typeof mcpClients>;

const describe = (
  clients: Clients,
) => `Assistants get the same data from an MCP server at \`/mcp\`; \`/api/mcp\` is the same server, and so is \`/mcp/account\`, where every message needs [a token](#connecting). Each is the same with a slash at its end. It accepts JSON by \`POST\`, keeps no session between requests, and supports protocol 2026-07-28 as well as 2025-11-25 and earlier.

## Tools

| Tool | Needs | Returns |
| --- | --- | --- |
| \`get_health\` | nothing | that the web app is up |
| \`get_site_banner\` | nothing | the notice at the top of the site |
| \`get_entitlement\` | a token | whether the account may run, and [what its plan contains](${to.plans}) |
| \`get_credits_balance\` | a token | the account's credits |
| \`search_docs\` | nothing | the sections of these documents that match a query |
| \`get_doc\` | nothing | the text of a document, or of one section |
| \`search\`, \`fetch\` | nothing | the same two in the form that ChatGPT needs |

No tool changes anything. ${sessionLimits} ${noPayments}

## Connecting

A client only needs a URL. It opens our approval page in your browser; you sign in and approve, and the client renews its token as long as it is used at least once in ${sessionDays.idle} days, for ${sessionDays.app} days at most. The addresses differ only in when it asks you:

| Address | Asks for your approval |
| --- | --- |
| \`${clients.address}\` | when the client first reads your account, or when you tell it to log in; connecting, the documents, health and the banner need no sign-in |
| \`${clients.accountAddress}\` | when the client connects, for clients that ask only if connecting is refused |

You never paste a token, and no line below contains one. The client stores its token in the system's keychain or, if there is none, in a file in your home folder (Claude Code, Codex, \`mcp-remote\`). ${linkToPage(pages.access)} lists the clients that you have connected, and can disconnect them.

### Claude Code

${code("console", clients.claudeCode.join("\n"))}

You can also approve with \`/mcp\` in a session.

### Codex

${code("console", clients.codex)}

This also logs in.

### VS Code

In \`.vscode/mcp.json\`:

${json(clients.vsCode.settings)}

### Cursor

In \`~/.cursor/mcp.json\`:

${json(clients.cursor.settings)}

### Claude and ChatGPT

Add a custom connector with the URL \`${clients.accountAddress}\`: in Claude under Customize, Connectors; in ChatGPT under Settings, Apps, after you have switched on developer mode in the advanced settings, with OAuth as the authentication. Both connect from their makers' networks, so the address must be public.

### Clients that start a program

Clients that can only start a program connect through \`mcp-remote\`:

${code("console", `npx mcp-remote ${clients.address}`)}

### Clients that ask for a client ID

Some hosted clients, such as Gemini Enterprise, have a form instead. Register yours once, with the redirect URI that its form or its documents name:

${code(
  "sh",
  `curl -sS --fail-with-body "$CORNER_OFFICE_URL${registration.path}" -H "Content-Type: application/json" \\
  -d '{"client_name":"Gemini Enterprise","redirect_uris":["https://vertexaisearch.cloud.google.com/oauth-redirect"]}'`,
)}

| Field | What to fill in |
| --- | --- |
| MCP server | \`${clients.accountAddress}\` |
| Client ID | the whole \`client_id\` of the answer; it lasts for ${describeSeconds(oauthSeconds.registeredClient)}, and as long again from each time that an owner approves or keeps the app |
| Client secret | nothing, or any text if the form insists: it is not read |
| Authorization URL | \`${settings().appUrl}${authorization.path}\` |
| Token URL, refresh URL | \`${settings().appUrl}${token.path}\` |
| Scope | \`${accountScope}\` |

The client has to use PKCE. Copilot Studio does with dynamic discovery, which needs no form. Where apps may not register themselves, [the operator adds](${to.connectAnApp}#who-your-app-is) the client.

### The Inspector

${code("console", `npx "@modelcontextprotocol/inspector" --cli ${clients.address} --transport http --method tools/list`)}

### What was tried

Last tried on ${triedOn}:

${table(
  ["Client", "Address", "Tried"],
  knownClients.map(({ name, path, tried }) => [name, `\`${path}\``, tried]),
)}

### With a token of your own

A client without OAuth can send [a token](${to.authentication}) as \`Authorization: Bearer <SESSION_TOKEN>\`; one that is [bound to a key](${to.authentication}#tokens-that-only-their-holder-can-use) is sent as \`DPoP\`, with a proof for each message (SEP-1932). Let it read the token from its environment or prompt for it, never from a file. A token lives for an hour at most. Browser cookies are never used.

## Without a client

${code(
  "sh",
  `curl -sS --fail-with-body "$CORNER_OFFICE_URL/mcp" \\
  -H "Content-Type: application/json" -H "Accept: application/json, text/event-stream" \\
  -d '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'`,
)}

An answer is one JSON document. Nothing is streamed: there are no server-sent events, and a \`GET\` answers \`405\`. A client that reports a \`405\` is set to SSE: choose Streamable HTTP in it, which some call \`http\`.

## Limits and errors

${quotas.mcp.requests} requests per ${quotas.mcp.windowSeconds} seconds and address, shared by all paths, or [and account](${to.limits}) in listed networks of hosted agents; [the headers](${to.limits}#headers) are those of the API, under the name \`mcp\`. A body over ${inKibibytes(bodyLimits.mcp)} answers [\`413\`](${to.errors}#too_large). At \`/mcp\`, only tools that read an account answer \`401\`, if the token is missing or invalid; an expired token never blocks documents. At \`/mcp/account\`, every message without a valid token does. A denial, such as a trial that has ended, is a normal result with the same fields as in the API. Any other failure is an \`isError\` result with the same \`code\`, \`message\`, \`hint\` and \`docs\`.

${tokenSafety}
`;
