import { settings } from "@/lib/config/settings";
import type { DocumentText } from "@/lib/docs/document";
import { operationWords } from "@/lib/docs/documents/operations";
import { code, json, linkToPage, to, toCode } from "@/lib/docs/markdown";
import { programs, readToken } from "@/lib/docs/samples";
import { sessionLimits, tokenSafety } from "@/lib/docs/words";
import { pages } from "@/lib/http/register/pages";
import { clientFiles } from "@/lib/http/register/publications";

const answer = {
  ok: true,
  status: "licensed",
  recheckAfterSeconds: 900,
  plan: "licensed",
  assistantLimit: 12,
  features: [],
  limits: { assistants: 12 },
};

export const quickStart: DocumentText = {
  title: "Quick start",
  group: "Start",
  showsSamplesBeside: true,
  moved: {
    support: to.support,
    "report-a-vulnerability": `${to.support}#report-a-vulnerability`,
  },
  summary: "Get a working entitlement check in five minutes.",
  markdown:
    () => `Your app asks Corner Office one question: may this person's company of assistants run? You can build that in five minutes.

## 1. Set the base URL

The base URL is the site you're on. The first line sets it for the steps below.

${code("sh", `export CORNER_OFFICE_URL=${settings().appUrl}\ncurl -sS "$CORNER_OFFICE_URL/api/health"`)}

${json(operationWords.health.example as object)}

[Health](${to.healthOperation}) and [the banner](${to.siteBannerOperation}) need no account and no key.

## 2. Get a token

The owner of the account signs in at ${linkToPage(pages.signIn)}, opens ${linkToPage(pages.access)} and copies a token for you. Paste it at this prompt, which keeps it out of your shell's history:

${readToken}

${tokenSafety} Trying this on your own machine? \`npm run demo\` keeps a token in a file: \`export CORNER_OFFICE_TOKEN=$(cut -d " " -f 3 .data/demo/licensed)\`.

## 3. Ask

The token says whose company it is.

${code("sh", `curl -sS "$CORNER_OFFICE_URL/api/entitlement" \\\n  -H "Authorization: Bearer $CORNER_OFFICE_TOKEN"`)}

${json(answer)}

## 4. Put it into your app

Download [the client](${to.client}) for Node or Python, one file with nothing to install. The one for Node is TypeScript that is JavaScript too, so it is saved as \`.mjs\`:

${code(
  "sh",
  `curl -sS --fail-with-body -o corner-office.mjs "$CORNER_OFFICE_URL${clientFiles.typescript.path}"
curl -sS --fail-with-body -o corner_office.py "$CORNER_OFFICE_URL${clientFiles.python.path}"`,
)}

Put this next to it:

${programs("entitlement-check.mjs", "entitlement-check.py")}

Save it as \`check.mjs\` and run \`node check.mjs\`, or as \`check.py\` and run \`python3 check.py\`. The client takes only a \`200\` with \`ok: true\` as a yes, and follows no redirect, so that no other host gets the token. Its loop, \`keepAsking\`, asks again in time and runs on through outages.

## What to do with the answer

- \`licensed\`, \`trial\` or \`hobby\`: run. On a trial, \`trialEndsAt\` says how long. \`features\` and \`limits\` say [what the plan contains](${to.plans}).
- ${toCode("signed_out")}: ask the person to sign in again. The token no longer works.
- ${toCode("trial_ended")} or ${toCode("forbidden")}: do not run, and say why.
- ${toCode("unavailable")}: a temporary failure, not a refusal. Ask again after \`Retry-After\`.
- ${toCode("not_configured")}: this deployment has no sign-in, so no account may run. Asking again does not help until its operator sets it up.

${sessionLimits}

## Test without an account

There is no public sandbox. You can test all of it without an account here:

- [Health](${to.healthOperation}) and [the banner](${to.siteBannerOperation}) answer anyone, and so do these documents over [MCP](${to.mcp}). Calls to account operations without a token answer \`401\` ${toCode("signed_out")}.
- Run the service on your own machine: \`npm ci && npm run demo\` makes four test accounts (a plan, a trial, an ended trial, a hobby) and keeps a token of each in a file that it names. Nothing leaves your machine.
- Make a mock from [the API description](${to.openApi}), which has an example of every answer and error:

${code("console", `npx "@stoplight/prism-cli" mock ${settings().appUrl}${to.openApi}`)}

## Next

- [A complete client](${to.client}): one tested file for TypeScript, Python, Swift or Kotlin.
- [Plans](${to.plans}): what the owner's plan contains, and how your app follows it.
- [Authentication](${to.authentication}): what a token is, how long it lives and how to get one.
- [API reference](${to.apiReference}): every operation, field, status and header, in curl, TypeScript and Python.
- [Errors](${to.errors}), [limits](${to.limits}), [versions and retirement](${to.policy}).
- [MCP](${to.mcp}): the same data for an assistant.
- [Support](${to.support}): when something does not work.
`,
};
