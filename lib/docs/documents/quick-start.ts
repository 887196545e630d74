import type { DocumentPage } from "@/lib/docs/document";
import { linkToPage, to, toCode } from "@/lib/docs/links";
import { code, placeholderAddress } from "@/lib/docs/markdown";
import { entitlementCheck, readToken } from "@/lib/docs/samples";
import { sessionLimits, tokenSafety } from "@/lib/docs/words";
import { documentPages, pages } from "@/lib/http/pages";

export const quickStart: DocumentPage = {
  path: documentPages.quickStart.path,
  title: "Quick start",
  group: "Start",
  summary: "From nothing to a working entitlement check in five minutes.",
  markdown: () => `# Quick start

Your app asks Corner Office one question: may this person's company of assistants run? Five minutes from here, it does.

## 1. Say where the service is

It is the one that shows you this page. The first line keeps its address for the steps below.

${code("sh", `export CORNER_OFFICE_URL=${placeholderAddress}\ncurl -sS "$CORNER_OFFICE_URL/api/health"`)}

${code("json", `{"ok":true,"service":"corner-office-web","surface":"web","agent":"not-hosted"}`)}

No account, no key: [health](${to.healthOperation}) and [the banner](${to.siteBannerOperation}) are open to anyone.

## 2. Get a token

The owner of the account signs in at ${linkToPage(pages.signIn)}, opens ${linkToPage(pages.home)} and copies a token for you. Paste it where it leaves no trace in your shell's history:

${readToken}

${tokenSafety} Trying this on your own machine? \`npm run demo\` prints a token.

## 3. Ask

${code("sh", `curl -sS "$CORNER_OFFICE_URL/api/entitlement" \\\n  -H "Authorization: Bearer $CORNER_OFFICE_TOKEN"`)}

${code("json", `{"ok":true,"status":"licensed","assistantLimit":12,"recheckAfterSeconds":900}`)}

## 4. Put it into your app

Only a \`200\` with \`ok: true\` means that the account may run. Ask again within \`recheckAfterSeconds\`; after a failure, wait as long as \`Retry-After\` says.

${entitlementCheck}

Save it as \`check.mjs\` and run \`node check.mjs\`, or as \`check.py\` and run \`python3 check.py\`. Both use nothing but what Node and Python bring along. [A complete client](${to.client}) has the rest: the loop, and what to do while nobody answers.

## What to do with the answer

- \`licensed\`, \`trial\` or \`hobby\`: run. On a trial, \`trialEndsAt\` says how long.
- ${toCode("signed_out")}: ask the person to sign in again; the token has stopped working.
- ${toCode("trial_ended")} or ${toCode("forbidden")}: do not run, and say why.
- ${toCode("unavailable")}: nobody can say at the moment. It is not a no; ask again after \`Retry-After\`.
- ${toCode("not_configured")}: this deployment has no sign-in, so nobody can run. Asking again does not help until its operator has set one up.

${sessionLimits}

## Next

- [A complete client](${to.client}): one tested file for TypeScript, Python, Swift or Kotlin.
- [Authentication](${to.authentication}): what a token is, how long it lives, how one is given.
- [API reference](${to.apiReference}): every operation, field, status and header, in curl, TypeScript and Python.
- [Errors](${to.errors}), [limits](${to.limits}), [versions and retirement](${to.policy}).
- [MCP](${to.mcp}): the same answers for an assistant.
`,
};
