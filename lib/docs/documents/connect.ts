import { oauthBounds } from "@/lib/config/limits";
import { desktopApp } from "@/lib/docs/clients/desktop-app";
import { phoneApp } from "@/lib/docs/clients/phone-app";
import { terminalProgram } from "@/lib/docs/clients/terminal";
import type { DocumentPage } from "@/lib/docs/document";
import { linkToPage, to } from "@/lib/docs/links";
import { code, table } from "@/lib/docs/markdown";
import { sessionLimits } from "@/lib/docs/words";
import { mcpServer } from "@/lib/http/operations";
import { connectEndpoints, documentPages, pages, publications } from "@/lib/http/pages";
import { nativeClient } from "@/lib/oauth/clients";
import { lifetimes } from "@/lib/oauth/lifetimes";
import { accountScope, accountScopeWords } from "@/lib/oauth/resources";

const { authorization, token, device, revocation } = connectEndpoints;
const days = lifetimes.session / (24 * 60 * 60);
const reuse = lifetimes.refreshTokenReuse;
const minutes = (seconds: number) => `${seconds / 60} minutes`;

/** How an app gets its owner's approval and renews its token: one file for each kind of app. */
export const connect: DocumentPage = {
  path: documentPages.connectAnApp.path,
  title: "Connect an app",
  group: "Start",
  summary: "Your app gets its owner's approval with one click, and renews its token for a week.",
  markdown: () => `# Connect an app

Your app opens our approval page in its owner's browser. The owner signs in, sees which app is asking and what it may read, and approves. The app then renews its token for ${days} days.

${table(
  ["Your app runs", "It gets the approval", "The file"],
  [
    ["on a computer with a browser", "at a loopback address (RFC 8252)", "[A desktop app](#a-desktop-app)"],
    ["on a phone", "at its own URL scheme (RFC 8252)", "[A phone app](#a-phone-app)"],
    [
      "in a terminal, over SSH, on a device without a browser",
      "with a code (RFC 8628)",
      "[A program in a terminal](#a-program-in-a-terminal)",
    ],
    ["as an MCP client", "on its own: it only needs our URL", `[MCP](${to.mcp}#connecting)`],
  ],
)}

Each file below runs as it is, with nothing to install, and our tests run it against this service. Pass its \`readToken\` to [a complete client](${to.client}).

## A desktop app

${code("ts", desktopApp)}

In Electron, pass \`shell.openExternal\` to \`connect\`.

## A phone app

Use your domain, reversed, as the URL scheme. The operator of this service [registers your app](#who-your-app-is) with it first.

${code("ts", phoneApp)}

\`openBrowser\` is \`ASWebAuthenticationSession\` on an iPhone and a Custom Tab on Android. Do not use a web view inside your app: the owner could not see which site asks for their sign-in.

## A program in a terminal

${code("python", terminalProgram)}

The owner enters the code at ${linkToPage(pages.connect)} on any device, within ${minutes(lifetimes.deviceCode)}. The link with the code leads to the same page, where the owner still has to enter the code, so that a link alone cannot connect a device (RFC 8628 §5.4).

## What your app gets

${table(
  ["It gets", "Lifetime", "What to do with it"],
  [
    ["Access token", "an hour at most", "send it as `Authorization: Bearer`; keep it in memory only"],
    [
      "Refresh token",
      "until its successor is used, at most as long as the session",
      "store it where the system stores passwords; each renewal returns another, which replaces it",
    ],
    [
      "Session",
      `${days} days from the approval, or from the owner's last “Give it another week” at ${linkToPage(pages.home)}`,
      `nothing; the owner can end it there, the operator with a command. The owner gets an email a day before the end of an app that was used in the last three days`,
    ],
  ],
)}

- There is one scope, \`${accountScope}\`: ${accountScopeWords.toLowerCase()}. ${sessionLimits}
- A token is valid for one resource: the API, if \`resource\` (RFC 8707) is \`/api\` at our URL, or the MCP server, if it is one of \`${mcpServer.paths.join("`, `")}\`. Our URL itself stands for both. The default is \`/api\`.
- If the answer to a renewal is lost, send the same refresh token again. It works again for ${reuse} seconds after its first use, and until one of its successors is used; the tokens of all its answers are good. After that, someone who uses it may have stolen it, so the session ends. A code works once.
- Renew when you need a token, not on a timer. A session can renew at most ${oauthBounds.credentials.RefreshToken} times in ${minutes(oauthBounds.windowSeconds)}.
- When the owner signs out of your app or removes it, revoke the refresh token at \`${revocation.path}\` (RFC 7009).

## Who your app is

${table(
  ["Client", "The owner sees", "Redirect URIs"],
  [
    [
      `\`${nativeClient.client_id}\``,
      "“A program on this computer”; for a code, “a device”, with the time and network of the request",
      "loopback addresses on any port; none for a device code",
    ],
    [
      "one that the operator added",
      "the redirect URI, and the name from the operator as the app's own claim",
      "exactly those that the operator registered: loopback, its own scheme, or HTTPS",
    ],
    [
      "the HTTPS URL of its metadata document",
      "the redirect URI, and its name as the app's own claim, with the host of the document",
      "those in the document; the operator lists the addresses of the documents, by default those of known agents",
    ],
  ],
)}

An app can register itself (RFC 7591) where the metadata has a \`registration_endpoint\`, which an operator can switch off, and present a metadata document where it has \`client_id_metadata_document_supported\`. Of a document we read \`client_name\`, \`redirect_uris\` and whether it offers \`none\` as \`token_endpoint_auth_method\` or among \`token_endpoint_auth_methods_supported\`. A registration expires after a day, or 90 days after an owner last approved the app. If a request fails before the owner is asked, such an app learns about it only if a person follows the link on our page (RFC 9700).

A redirect URI must be normalized (equal to \`new URL(uri).href\`), without a user name, white space, a backslash or a fragment. Invisible characters and text direction marks are removed from names.

All clients need PKCE with \`S256\` and have no client secret. The metadata is at ${linkToPage(publications.authorizationServer)} (RFC 8414), and for libraries that only know OpenID Connect's path also at ${linkToPage(publications.openIdConfiguration)}, so a library such as \`openid-client\`, \`oauth4webapi\` or AppAuth only needs our URL, without a slash at the end. There is no ID token: \`openid\` is not one of our scopes.

The operator registers an app with a command:

${code("console", `npm run -s admin -- connect add studio "Studio for iPhone" com.example.studio:/signed-in`)}

## What can go wrong

${table(
  ["Your app gets", "It means", "It should"],
  [
    ["`access_denied`", "the owner declined", "wait until the owner clicks your button again"],
    ["`invalid_grant`", "the session or the code has ended", "ask the owner again"],
    ["`authorization_pending`", "the owner has not answered yet", "try again after `interval`, or 5 seconds"],
    ["`expired_token`", "the owner did not answer in time", "start again when the owner wants to"],
    ["`invalid_request`", "for example, `response_mode` is not `query`", "omit that parameter"],
    ["`invalid_target`", "the `resource` is not one of ours", "use one of ours"],
    [
      "a page with a `400`, and no redirect",
      "we cannot tell where the answer should go; the page says which: the metadata document is not accepted here, or could not be read, or the app is not registered (any more), or its redirect URI is not",
      "register again if it was not registered; otherwise tell its developer what the page says",
    ],
    ["`429`, `5xx`, no network", "a temporary failure", "wait, keep its tokens, and send the same again"],
  ],
)}

The endpoints are \`${authorization.path}\`, \`${token.path}\`, \`${device.path}\` and \`${revocation.path}\`. A redirect to your app contains our URL as \`iss\` (RFC 9207); compare it with the URL that you used.
`,
};
