import { programTokenSeconds } from "@/lib/auth/session";
import type { DocumentPage } from "@/lib/docs/document";
import { linkToPage, to, toCode } from "@/lib/docs/links";
import { code, table } from "@/lib/docs/markdown";
import { operationWords } from "@/lib/docs/operation-descriptions";
import { readToken } from "@/lib/docs/samples";
import { sessionLimits, tokenSafety } from "@/lib/docs/words";
import { type Operation, operations } from "@/lib/http/operations";
import { documentPages, pages } from "@/lib/http/pages";

export const authentication: DocumentPage = {
  path: documentPages.authentication.path,
  title: "Authentication",
  group: "Start",
  summary: "How a session token is given to a program, sent, renewed and kept safe.",
  markdown: () => `# Authentication

An account's own operations need a session; the others need nothing, or a signed link.

${table(["Operation", "Needs"], Object.entries<Operation>(operations).map(needs))}

## Two ways to send a session

${table(
  ["Scheme", "How it is sent", "Used by"],
  [
    [
      "`bearerAuth`",
      "Header `Authorization: Bearer <SESSION_TOKEN>`",
      "Desktop app, phone app, a program acting for an account",
    ],
    ["`sessionCookie`", "Cookie named `__session`", `A browser after sign-in at ${linkToPage(pages.signIn)}`],
  ],
)}

When both are sent, the bearer token decides. A bad one is never replaced by the cookie.

## How a program gets a token

A program cannot create an account or sign itself in. Self-service sign-up is not open: accounts are created from a waitlist invitation. So the account's owner gives the program a token:

1. The owner signs in at ${linkToPage(pages.signIn)} and opens ${linkToPage(pages.home)}.
2. The owner presses the button that copies a token for a program.
3. The program takes it from its environment or its keychain:

${readToken}

${code("sh", `curl -sS "$CORNER_OFFICE_URL/api/entitlement" \\\n  -H "Authorization: Bearer $CORNER_OFFICE_TOKEN"`)}

Long-lived developer tokens are not issued.

## Connecting an app

An app or an agent need not be given a token by hand. It asks its owner once, in a browser, and renews its token by itself for a week at most: [Connect an app](${to.connectAnApp}) has a tested file for a desktop, a phone and a terminal. ${linkToPage(pages.home)} lists what was let in, and ends it; its next request is then a \`401\`.

## How long a token lives

A token belongs to one signed-in account and is short lived: ${programTokenSeconds / 60} minutes at most. One that stops working answers \`401\` with the code ${toCode("signed_out")}; signing in again yields a new one. Signing out may end it sooner.

A \`401\` always carries a challenge, which tells the two cases apart:

${code("http", `WWW-Authenticate: Bearer realm="corner-office"\nWWW-Authenticate: Bearer realm="corner-office", error="invalid_token"`)}

The first answers a request without a token, the second a token that is expired, altered or ended. An outage of ours is a \`503\` and never a \`401\`: do not throw a token away for it.

## Keeping it safe

- ${tokenSafety}
- Not in an address either: a token in a query is not read.
- ${sessionLimits}
`,
};

function needs([operation, { methods, path, access }]: [string, Operation]): string[] {
  const what = {
    anyone: "nothing",
    session: "a session",
    "signed link": "the signed `token` of the link, used exactly as sent",
  };
  const { page } = operationWords[operation as keyof typeof operations];
  return [`[\`${methods[0]} ${path}\`](${page})`, what[access]];
}
