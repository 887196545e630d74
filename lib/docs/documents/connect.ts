import { oauthBounds } from "@/lib/config/limits";
import { desktopApp } from "@/lib/docs/clients/desktop-app";
import { phoneApp } from "@/lib/docs/clients/phone-app";
import { terminalProgram } from "@/lib/docs/clients/terminal";
import type { DocumentPage } from "@/lib/docs/document";
import { linkToPage, to } from "@/lib/docs/links";
import { code, table } from "@/lib/docs/markdown";
import { sessionLimits } from "@/lib/docs/words";
import { connectEndpoints, documentPages, pages, publications } from "@/lib/http/pages";
import { nativeClient } from "@/lib/oauth/clients";
import { lifetimes } from "@/lib/oauth/lifetimes";
import { accountScope, accountScopeWords } from "@/lib/oauth/resources";

const { authorization, token, device, revocation } = connectEndpoints;
const days = lifetimes.session / (24 * 60 * 60);
const minutes = (seconds: number) => `${seconds / 60} minutes`;

/** How an app asks its owner once, and keeps its token by itself: one file for each place an app runs in. */
export const connect: DocumentPage = {
  path: documentPages.connectAnApp.path,
  title: "Connect an app",
  group: "Start",
  summary: "Your app asks its owner once, by one click, and renews its token by itself for a week.",
  markdown: () => `# Connect an app

Your app opens a page of ours in its owner's browser. The owner, signed in, sees who asks and what it may see, and approves. From then on the app renews its token by itself, for ${days} days.

${table(
  ["Your app runs", "It asks", "The file"],
  [
    [
      "on a computer, with a browser beside it",
      "at a loopback address (RFC 8252)",
      "[A desktop app](#a-desktop-app)",
    ],
    ["on a phone", "at a scheme of its own (RFC 8252)", "[A phone app](#a-phone-app)"],
    [
      "in a terminal, over SSH, on a device without a browser",
      "by a code (RFC 8628)",
      "[A program in a terminal](#a-program-in-a-terminal)",
    ],
    ["as a client of MCP", "by itself: it needs our address alone", `[MCP](${to.mcp}#connecting)`],
  ],
)}

Each file below runs as it stands, has nothing to install, and is run by a test against this very service. Its \`readToken\` is what [a complete client](${to.client}) takes.

## A desktop app

${code("ts", desktopApp)}

In Electron, hand it \`shell.openExternal\`.

## A phone app

A scheme is the name of a host of yours turned round. The operator of this service [makes your app known](#who-your-app-is) with it first.

${code("ts", phoneApp)}

\`openBrowser\` is \`ASWebAuthenticationSession\` on an iPhone and a Custom Tab on Android. Never a web view inside your app: its owner could not see whom they type to.

## A program in a terminal

${code("python", terminalProgram)}

The owner types the code at ${linkToPage(pages.connect)} on any device, within ${minutes(lifetimes.deviceCode)}. The address with the code in it leads to the same page, where it is typed all the same: a link alone lets no device in (RFC 8628 §5.4).

## What your app gets

${table(
  ["It gets", "It lives", "What to do with it"],
  [
    ["Access token", "an hour at most", "send it as `Authorization: Bearer`; keep it in memory alone"],
    [
      "Refresh token",
      "until the next one, and no longer than the session",
      "keep it where the system keeps passwords; it is good once",
    ],
    [
      "Session",
      `${days} days from the owner's click`,
      `nothing: its owner ends it at ${linkToPage(pages.home)}, the operator by a command`,
    ],
  ],
)}

- There is one scope, \`${accountScope}\`: ${accountScopeWords.toLowerCase()}. ${sessionLimits}
- A token is for the one resource that was asked for: \`resource\` (RFC 8707) is \`/api\` or \`/mcp\` at our address, \`/api\` where you name none.
- One process renews. A refresh token that comes a second time ends the session, since nobody can tell whether it was stolen; so does a redeemed code.
- Renew only when you need a token, and not on a timer: an app that sleeps for a day asks once. A session renews ${oauthBounds.refreshes} times in ${minutes(oauthBounds.windowSeconds)} at most.
- When your app is removed or its owner signs out of it, give the refresh token back at \`${revocation.path}\` (RFC 7009).

## Who your app is

${table(
  ["Client", "Its owner reads", "Where its answers go"],
  [
    [
      `\`${nativeClient.client_id}\``,
      "“A program on this computer”; with a code, “a device”, when it asked and from which network",
      "loopback addresses, on any port, or none for a device code",
    ],
    [
      "one that the operator added",
      "where its answers go, and the name that the operator gave it as what it calls itself",
      "the addresses that the operator gave it, to the byte: loopback, a scheme of its own, or HTTPS",
    ],
    [
      "the HTTPS address of a document about itself",
      "where its answers go, and its name as what it calls itself, with the host that vouches for it",
      "what the document says; the operator lists the hosts that are read",
    ],
  ],
)}

Some deployments let an app make itself known by itself (RFC 7591): their metadata names a \`registration_endpoint\`. What registers is forgotten after a day, or 90 days after an owner last let it in. Elsewhere there is none. What registered itself hears of an error that nobody was asked about only when a person follows the link on our page (RFC 9700).

An address for answers is spelled as \`new URL(address).href\` spells it, without a user name, white space, a backslash or a fragment. Names lose what shows nothing or turns the line round.

For all of them PKCE with \`S256\` is required, there is no client secret, and everything is found at ${linkToPage(publications.authorizationServer)} (RFC 8414), so a library such as \`openid-client\`, \`oauth4webapi\` or AppAuth needs our address alone. It ends in no slash.

The operator makes an app known by a command:

${code("console", `npm run -s admin -- connect add studio "Studio for iPhone" com.example.studio:/signed-in`)}

## What can go wrong

${table(
  ["Your app hears", "It means", "It does"],
  [
    ["`access_denied`", "its owner declined", "nothing, until its owner presses your button again"],
    ["`invalid_grant`", "the session, or the code, is over", "asks its owner again"],
    [
      "`authorization_pending`",
      "nobody has answered the code yet",
      "asks again after `interval`, or 5 seconds",
    ],
    ["`expired_token`", "nobody answered the code in time", "begins again, when its owner wants to"],
    ["`invalid_request`", "`response_mode` is not `query`, among others", "leaves it out"],
    ["`invalid_target`", "that `resource` is not ours", "names one of ours"],
    [
      "a page with a `400`, and no answer",
      "the client or its address is not known",
      "tells its maker: we send nobody to an address that we cannot trust",
    ],
    ["`429`, `5xx`, no network", "nobody said no", "waits, and keeps what it has"],
  ],
)}

The addresses, for those who want them: \`${authorization.path}\`, \`${token.path}\`, \`${device.path}\`, \`${revocation.path}\`. An answer at your app's address names us as \`iss\` (RFC 9207); hold it against the address that you asked.
`,
};
