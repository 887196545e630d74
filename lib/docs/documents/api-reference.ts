import type { DocumentPage } from "@/lib/docs/document";
import { to, toCode } from "@/lib/docs/links";
import { code, placeholderAddress, table } from "@/lib/docs/markdown";
import { operationWords } from "@/lib/docs/operation-descriptions";
import { answersOf } from "@/lib/docs/responses";
import { sessionLimits } from "@/lib/docs/words";
import { type Operation, operations } from "@/lib/http/operations";
import { documentPages } from "@/lib/http/pages";
import { maxRequestIdCharacters } from "@/lib/http/request-context";

type OperationName = keyof typeof operations;

export const apiReference: DocumentPage = {
  path: documentPages.apiReference.path,
  title: "API reference",
  group: "Reference",
  summary: "The five operations at a glance, and what holds for each of them.",
  markdown: () => `# API reference

${Object.keys(operations).length} operations. They only read, or stop emails. ${sessionLimits}

${table(
  ["Operation", "Needs", "Purpose"],
  Object.entries<Operation>(operations).map(([name, { methods, path, access, summary }]) => [
    `[\`${methods[0]} ${path}\`](${operationWords[name as OperationName].page})`,
    access === "anyone" ? "nothing" : access === "session" ? "a session" : "a signed link",
    summary,
  ]),
)}

The base address is \`${placeholderAddress}\`, over HTTPS. The same facts for programs: [/openapi.json](${to.openApi}), OpenAPI 3.1.

## Statuses

${table(["Status", "Meaning"], statuses())}

Which code comes with which is on the page of each operation; [the codes](${to.errors}) say what to do.

## Every operation

- The address of an operation is exact: case, slashes and encoding count. Any other address under \`/api\` answers \`404\` ${toCode("not_found")}, in JSON.
- A method that it does not accept answers \`405\` ${toCode("method_not_allowed")}, with \`Allow\`. Where \`GET\` is accepted so is \`HEAD\`, and \`OPTIONS\` everywhere.
- Checks come in this order: address, method, \`API-Version\`, quota, the operation.
- \`API-Version: 1\` may be sent and is [confirmed](${to.policy}) on every answer.
- \`X-Request-Id\` may be sent (up to ${maxRequestIdCharacters} letters, digits and \`. _ : -\`) and comes back on the answer, but for one that shared caches may keep; quote it when you report something.
- Every failure has the shape of [the error object](${to.errorObject}). What the headers mean is on [a page of its own](${to.headers}).
- Answers are JSON in UTF-8, but for the one line of text that confirms an unsubscribe. [Ignore fields you do not know](${to.policy}#what-can-change-within-a-version).
- A request that arrives too slowly or with oversized headers is refused before its address is known: [\`408\` and \`431\`](${to.limits}#sizes-and-deadlines).

Samples take the address from \`CORNER_OFFICE_URL\` and [the token](${to.authentication}) from \`CORNER_OFFICE_TOKEN\`:

${code("sh", `export CORNER_OFFICE_URL=${placeholderAddress}`)}

## Generate a client

The description has everything a generator needs:

${code("sh", `curl -sS --fail-with-body -o openapi.json "$CORNER_OFFICE_URL/openapi.json"`)}

Types for TypeScript, or a client in Go, C#, Swift, Kotlin, Ruby and many more:

${code(
  "console",
  `npx openapi-typescript openapi.json -o corner-office.ts
npx @openapitools/openapi-generator-cli generate -i openapi.json -g go -o corner-office`,
)}
`,
};

/** Every status that any operation answers, once. */
function statuses(): string[][] {
  const answers = Object.values<Operation>(operations).flatMap(answersOf);
  const meanings = new Map(answers.map(({ status, meaning }) => [status, meaning]));
  return [...meanings]
    .sort(([one], [other]) => one - other)
    .map(([status, meaning]) => [`\`${status}\``, meaning]);
}
