import { describeSeconds } from "@/lib/config/durations";
import { oauthSeconds, sessionDays } from "@/lib/config/lifetimes";
import { oauthBounds } from "@/lib/config/limits";
import type { DocumentText } from "@/lib/docs/document";
import { code, linkToPage, to } from "@/lib/docs/markdown";
import { sessionLimits } from "@/lib/docs/words";
import { mcpServer } from "@/lib/http/register/mcp";
import { connectEndpoints } from "@/lib/http/register/oauth";
import { pages } from "@/lib/http/register/pages";
import { publications } from "@/lib/http/register/publications";
import { nativeClient } from "@/lib/oauth/clients";
import { accountScope, accountScopeWords } from "@/lib/oauth/resources";

const { authorization, token, guessedToken, device, revocation } = connectEndpoints;
const { idle, app: days, ended } = sessionDays;
const reuse = oauthSeconds.refreshTokenReuse;

/** How an app gets its owner's approval and renews its token, for each kind of app. */
export const connect: DocumentText = {
  title: "Connect an app",
  group: "Start",
  summary: "Your app gets its owner's approval with one click, and renews its token as long as it is used.",
  moved: {
    "a-desktop-app": to.connectDesktop,
    "a-phone-app": `${to.connectAnApp}#choose-your-platform`,
    "a-program-in-a-terminal": to.connectTerminal,
    "a-browser-app": to.connectWeb,
  },
  markdown:
    () => `Your app opens our approval page in its owner's browser, and the owner approves it with one click. No one copies a token.

## The sequence

1. **Your app opens our approval page** in its owner's browser, or shows a code to enter there.
2. **The owner signs in and approves.** The page says which app is asking and what it may read.
3. **The browser returns to your app** with a code, which the app exchanges for two tokens: one for an hour, and one that renews it.
4. **Your app asks whether it may run**, and again before the answer expires: [\`GET /api/entitlement\`](${to.entitlementOperation}).
5. **It renews its token** as long as it is used at least once in ${idle} days, for ${days} days at most.

[A complete client](${to.client}) does all five, in one file per language.

## Choose your platform

| Your app runs | It gets the approval | File |
| --- | --- | --- |
| [On a computer](${to.connectDesktop}), with Node or Electron | at a loopback address (RFC 8252) | TypeScript |
| [On an iPhone or a Mac](${to.connectIphone}) | at its own URL scheme (RFC 8252) | Swift |
| [On Android](${to.connectAndroid}) | at its own URL scheme (RFC 8252) | Kotlin |
| [In Expo](${to.connectExpo}), on either phone | at its own URL scheme (RFC 8252) | TypeScript |
| [In a terminal](${to.connectTerminal}), over SSH, on a device without a browser | with a code (RFC 8628) | Python |
| [In a browser](${to.connectWeb}), with a server | at its server's HTTPS address (RFC 10017) | TypeScript |
| [As an MCP client](${to.mcp}#connecting) | on its own: it only needs our URL | none |

## What your app gets

| It gets | Lifetime | What to do with it |
| --- | --- | --- |
| Access token | an hour at most | send it as \`Authorization: Bearer\`; keep it in memory only |
| Refresh token | \`refresh_token_expires_in\` has the seconds that are left | store it where the system stores passwords; each renewal replaces it |
| Session | ${days} days at most, and ${idle} without use | nothing; its owner can end it, and so can the operator |

A renewal is a use, and so is a request with its token. The ${days} days begin with the approval, and again when the owner presses “Keep all” at ${linkToPage(pages.access)}, where they can end the session too. They get an email when an app is connected, and 7 days before the last date of one that is still connected.

### Renew a token

- Renew when you need a token, not on a timer. A session can renew at most ${oauthBounds.credentials.RefreshToken} times in ${describeSeconds(oauthBounds.windowSeconds)}.
- If the answer to a renewal is lost, send the same refresh token again. It works again for ${reuse} seconds after its first use, and until the one that you got for it is used, and you get the same refresh token again.
- After that, it is refused with \`invalid_grant\`. From another network than that of the last renewal, someone may have stolen it, so the session ends too. A code works once.
- When the owner signs out of your app or removes it, revoke the refresh token at \`${revocation.path}\` (RFC 7009). The access token does as well: the session ends with either.

### Share a token between processes

- Let one process renew at a time, or read the newest refresh token from your store before you renew and after an \`invalid_grant\`: another process may have stored it. Delete only the token that was refused.
- One refresh token that is bound to a key can be used by several processes at once.

### Bind tokens to a key

An app that proves with each request for tokens that it has a key (DPoP, RFC 9449) gets tokens that are bound to it. A copy of them is worth nothing without the key, so there is no chain: the refresh token stays the same. Access tokens are then [sent as \`DPoP\` with a proof](${to.authentication}#tokens-that-only-their-holder-can-use).

- An app that was connected without a key is bound by the first renewal with a proof.
- \`dpop_jkt\` in its request binds the code too.
- \`dpop_bound_access_tokens\` in its registration or metadata document makes sure that it never gets other tokens.

## Scopes and resources

- There is one scope, \`${accountScope}\`, so an app asks for one permission: ${accountScopeWords.toLowerCase()}. ${sessionLimits} It is granted whatever an app asks for; other scopes, such as \`openid\` and \`offline_access\`, are ignored (RFC 6749, section 3.3), and \`scope\` in the answer with the tokens says so. Python's \`oauthlib\` takes that for an error, so ask with it for \`${accountScope}\` alone.
- A token of an app that names no \`resource\` (RFC 8707) is valid for the API and the MCP server; so is one for our URL itself, without a path.
- A token for \`/api\` at our URL is valid for the API alone, and one for \`${mcpServer.paths.join("`, `")}\` for the MCP server alone. An app that was approved for both can name either when it gets or renews a token.

## Who your app is

| Client | The owner sees | Redirect URIs |
| --- | --- | --- |
| \`${nativeClient.client_id}\` | “A program on this computer”; for a code, “a device”, with the time and network of the request | loopback addresses on any port; none for a device code |
| one that the operator added | the redirect URI, and the name from the operator as the app's own claim | exactly those that the operator registered: loopback (on any port, by any of its names), its own scheme, or HTTPS |
| the HTTPS URL of its metadata document | the redirect URI, and its name as the app's own claim, with the host of the document | those in the document, of at most 16 KiB; the documents of known agents are read at once, any other once the owner has signed in, unless the operator lets no app register itself |

All clients need PKCE with \`S256\` and have no client secret. The operator registers an app with a command:

${code("console", `npm run -s admin -- connect add studio "Studio for iPhone" com.example.studio:/signed-in`)}

### Metadata and libraries

The metadata is at ${linkToPage(publications.authorizationServer)} (RFC 8414), and for libraries that only know OpenID Connect's path also at ${linkToPage(publications.openIdConfiguration)}, so a library such as \`openid-client\`, \`oauth4webapi\` or AppAuth only needs our URL, without a slash at the end. There is no ID token.

### Apps that register themselves

An app can register itself (RFC 7591) where the metadata has a \`registration_endpoint\`, which an operator can switch off, and present a metadata document where it has \`client_id_metadata_document_supported\`.

- Of a document we read \`client_name\`, \`redirect_uris\`, \`dpop_bound_access_tokens\` and whether it offers \`none\` as \`token_endpoint_auth_method\` or among \`token_endpoint_auth_methods_supported\`. One that is not of a known agent is read anew for each request after ${describeSeconds(oauthSeconds.request)}, and at once for one that names another redirect URI.
- A registration expires ${describeSeconds(oauthSeconds.registeredClient)} after it was made, or after an owner last approved or kept the app.
- What cannot be used is left out, which the answer to a registration shows: redirect URIs that are not allowed, those after the tenth, and of a name what follows its 80th character. Only if no redirect URI is left is it refused, with the reason; an app that names the grant of device codes in \`grant_types\` can register without any.
- Invisible characters and text direction marks are removed from names.
- If a request fails before the owner is asked, such an app learns about it only if a person follows the link on our page (RFC 9700).
- A program can ask the address of its request for JSON before it opens a browser with an id that it has stored: \`400\` with \`invalid_client\` tells it to register anew.

### Redirect URIs

A redirect URI is one of three:

- HTTPS at another host than ours
- HTTP at a loopback address or name, such as \`127.0.0.1\`, on any port; \`*\` as its port means the same
- a scheme of your app

It must be normalized (equal to \`new URL(uri).href\`, but a host alone may go without its slash), without a user name, white space, a backslash, another \`*\` or a fragment.

## What can go wrong

| Your app gets | It means | It should |
| --- | --- | --- |
| \`access_denied\` | the owner declined | wait until the owner clicks your button again |
| \`invalid_grant\` | the token or the code was used before, or the session has ended | try once with a newer token, if another process has stored one; else forget its tokens and ask the owner again |
| \`authorization_pending\` | the owner has not answered yet | try again after \`interval\`, or 5 seconds |
| \`expired_token\` | the owner did not answer in time | start again when the owner wants to |
| \`invalid_request\` | for example, \`response_mode\` is not \`query\` | omit that parameter |
| \`invalid_target\` | the \`resource\` is not one of ours, or more than the owner approved | use one of ours |
| \`invalid_dpop_proof\`, \`use_dpop_nonce\` | the proof of its key is not valid, was used before, or is of a clock that differs; nothing was used up | sign another proof, in the second case with the \`DPoP-Nonce\` of the answer, and keep its tokens |
| a page with a \`400\`, and no redirect | we cannot tell where the answer should go; the page says why | register again if it was not registered; otherwise tell its developer what the page says |
| \`temporarily_unavailable\` with a \`429\` or \`503\`, any other \`5xx\`, no network | a temporary failure | wait, keep its tokens, and send the same again |

For ${ended} days after the end of a session, \`error_description\` says why it ended, and your app can show that text: the owner ended it, it was not used for ${idle} days, its ${days} days are over, or a refresh token was used twice.

The page with a \`400\` says which it is: the metadata document is not accepted here, or could not be read, or the app is not registered (any more), or its redirect URI is not.

The endpoints are \`${authorization.path}\`, \`${token.path}\`, \`${device.path}\` and \`${revocation.path}\`; \`${guessedToken.path}\` is the same as \`${token.path}\`, because some libraries renew there after a restart. A redirect to your app contains our URL as \`iss\` (RFC 9207); compare it with the URL that you used.
`,
};
