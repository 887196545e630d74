import { settings } from "@/lib/config/settings";
import type { DocumentText } from "@/lib/docs/document";
import { toOperation } from "@/lib/docs/documents/operations";
import { code, table, to, toCode } from "@/lib/docs/markdown";
import { answersOf } from "@/lib/docs/responses";
import { sessionLimits } from "@/lib/docs/words";
import { maxRequestIdCharacters } from "@/lib/http/call";
import { type Operation, type OperationName, operations } from "@/lib/http/register/operations";

export const apiReference: DocumentText = {
  title: "API reference",
  group: "Reference",
  summary: "The operations at a glance, and what they have in common.",
  markdown:
    () => `There are ${Object.keys(operations).length} operations. They only read data, or stop emails. ${sessionLimits}

${table(
  ["Operation", "Needs", "Purpose"],
  Object.entries<Operation>(operations).map(([name, { access, summary }]) => [
    toOperation(name as OperationName),
    access === "anyone" ? "nothing" : access === "session" ? "a session" : "a signed link",
    summary,
  ]),
)}

The base URL is \`${settings().appUrl}\`, over HTTPS. Programs find the same facts in [/openapi.json](${to.openApi}), an OpenAPI 3.1 description.

## Statuses

${table(["Status", "Meaning"], statuses())}

Each operation's page lists the error codes of each status. [Error codes](${to.errors}) says what to do about them.

## Every operation

- The path of an operation is exact: case, slashes and encoding matter. Any other path under \`/api\` answers \`404\` ${toCode("not_found")} in JSON.
- A method that it does not accept answers \`405\` ${toCode("method_not_allowed")} with \`Allow\`. Operations that accept \`GET\` also accept \`HEAD\`, and all accept \`OPTIONS\`.
- Checks run in this order: path, method, \`API-Version\`, quota, the operation.
- You can send \`API-Version: 1\`. Every response [confirms](${to.policy}) it.
- You can send \`X-Request-Id\` (up to ${maxRequestIdCharacters} letters, digits and \`. _ : -\`). The response repeats it, unless shared caches may store that response. Quote it when you report a problem.
- Every failure has the shape of [the error object](${to.errorObject}). [Headers](${to.headers}) explains every header.
- Responses are JSON in UTF-8, except for the line of text that confirms an unsubscribe. [Ignore fields that you do not know](${to.policy}#what-can-change-within-a-version).
- A request that arrives too slowly or with oversized headers is refused before its path is known: [\`408\` and \`431\`](${to.limits}#sizes-and-deadlines).

Samples read the base URL from \`CORNER_OFFICE_URL\` and [the token](${to.authentication}) from \`CORNER_OFFICE_TOKEN\`:

${code("sh", `export CORNER_OFFICE_URL=${settings().appUrl}`)}

## Webhooks

[Webhooks](${to.webhooks}) are for the operator's own systems. An app gets none, because most apps run where no one can call them. Instead:

- **A plan, what it contains or a trial changes**: ask for [the entitlement](${to.entitlementOperation}) again within \`recheckAfterSeconds\`, 15 minutes at most, and when the person clicks a button. [A complete client](${to.client}) does that.
- **Credits change**: read [the balance](${to.creditsBalanceOperation}) before you show it.
- **A notice appears**: poll [the site banner](${to.siteBannerOperation}), at most every 15 seconds.
- **The API changes**: subscribe to [the feed](${to.changesFeed}), and watch for \`Deprecation\` in responses.

## Generate a client

The API description has everything that a generator needs:

${code("sh", `curl -sS --fail-with-body -o openapi.json "$CORNER_OFFICE_URL/openapi.json"`)}

Generate types for TypeScript, or a client in Go, C#, Swift, Kotlin, Ruby and other languages:

${code(
  "console",
  `npx openapi-typescript openapi.json -o corner-office.ts
npx "@openapitools/openapi-generator-cli" generate -i openapi.json -g go -o corner-office`,
)}
`,
};

function statuses(): string[][] {
  const answers = Object.values<Operation>(operations).flatMap(answersOf);
  const meanings = new Map(answers.map(({ status, meaning }) => [status, meaning]));
  return [...meanings]
    .sort(([one], [other]) => one - other)
    .map(([status, meaning]) => [`\`${status}\``, meaning]);
}
