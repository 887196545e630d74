import { errorCatalogue, type PublicErrorCode } from "@/lib/api/errors";
import { type Operation, operations } from "@/lib/api/operations";
import { documentPages } from "@/lib/api/pages";
import * as schemas from "@/lib/api/schemas";
import { mostRequestIdCharacters } from "@/lib/api/visit";
import { type AnswerDocument, answersOf, exampleRefusal } from "@/lib/docs/answers";
import type { DocumentPage } from "@/lib/docs/document";
import { fieldsOf } from "@/lib/docs/fields";
import { code, placeholderAddress, table } from "@/lib/docs/markdown";
import { operationWords } from "@/lib/docs/operation-words";
import { callSamples } from "@/lib/docs/samples";
import { whatSessionsCannotDo } from "@/lib/docs/words";

type OperationName = keyof typeof operations;

export const apiReference: DocumentPage = {
  path: documentPages.apiReference.path,
  title: "API reference",
  summary: "Every operation: its fields, statuses, codes and headers, with samples to run.",
  markdown: () => `# API reference

${Object.keys(operations).length} operations. They only read, or stop emails. ${whatSessionsCannotDo}

${table(
  ["Operation", "Needs", "Purpose"],
  Object.values<Operation>(operations).map(({ methods, path, access, summary }) => [
    `\`${methods[0]} ${path}\``,
    access === "anyone" ? "nothing" : access === "session" ? "a session" : "a signed link",
    summary,
  ]),
)}

The same facts for programs: [/openapi.json](/openapi.json), OpenAPI 3.1.

## Every operation

- The address of an operation is exact: case, slashes and encoding count. Any other address under \`/api\` answers \`404\` [\`not_found\`](/docs/api/errors#not_found), in JSON.
- A method that it does not accept answers \`405\` [\`method_not_allowed\`](/docs/api/errors#method_not_allowed), with \`Allow\`. Where \`GET\` is accepted so is \`HEAD\`, and \`OPTIONS\` everywhere.
- Checks come in this order: address, method, \`API-Version\`, quota, the operation.
- \`API-Version: 1\` may be sent and is [confirmed](/docs/api/policy) on every answer.
- \`X-Request-Id\` may be sent (up to ${mostRequestIdCharacters} letters, digits and \`. _ : -\`) and comes back on the answer, but for one that shared caches may keep; quote it when you report something.
- Answers are JSON in UTF-8, but for the one line of text that confirms an unsubscribe. [Ignore fields you do not know](/docs/api/policy#what-can-change-within-a-version).
- A request that arrives too slowly or with oversized headers is refused before its address is known: [\`408\` and \`431\`](/docs/api/limits#sizes-and-deadlines).

Samples take the address from \`CORNER_OFFICE_URL\` and [the token](/docs/authentication) from \`CORNER_OFFICE_TOKEN\`:

${code("sh", `export CORNER_OFFICE_URL=${placeholderAddress}`)}

${(Object.keys(operations) as OperationName[]).map(describe).join("\n\n")}

## The error object

Every failure has this shape; an entitlement's denial has it beside its own fields.

${fieldTable(schemas.apiError)}

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

function describe(name: OperationName): string {
  const operation: Operation = operations[name];
  const { methods, path, summary } = operation;
  const { about, example } = operationWords[name];
  const [success, ...refusals] = answersOf(operation);
  const denial = refusals.find(({ schema }) => schema === schemas.entitlementDenied);
  return [
    `## \`${methods[0]} ${path}\``,
    summary,
    about,
    callSamples(operation),
    "Answers:",
    code(
      typeof example === "string" ? "http" : "json",
      typeof example === "string" ? example : JSON.stringify(example, null, 2),
    ),
    typeof example === "string" ? "" : fieldTable(success?.schema ?? schemas.apiError),
    denial ? denialExample(denial) : "",
    statusTable(operation),
    headerTable(operation),
  ]
    .filter(Boolean)
    .join("\n\n");
}

function fieldTable(schema: AnswerDocument["schema"]): string {
  return table(
    ["Field", "Type", "Required", "Notes"],
    fieldsOf(schema).map(({ name, type, required, meaning }) => [
      `\`${name}\``,
      type,
      required ? "yes" : "no",
      meaning,
    ]),
  );
}

function denialExample({ schema }: AnswerDocument): string {
  return `A denial says why:

${code("json", JSON.stringify(exampleRefusal("trial_ended", schema), null, 2))}

${fieldTable(schema)}`;
}

function statusTable(operation: Operation): string {
  const rows = answersOf(operation).flatMap(({ status, meaning, refusals }) => {
    const codes = Object.keys(refusals) as PublicErrorCode[];
    if (codes.length === 0) return [[String(status), "", meaning]];
    return codes.map((name) => [
      String(status),
      `[\`${name}\`](/docs/api/errors#${name})`,
      codes.length > 1 ? errorCatalogue[name].message : meaning,
    ]);
  });
  return table(["Status", "Code", "Meaning"], rows);
}

function headerTable(operation: Operation): string {
  const statusesByHeader = new Map<string, { meaning: string; statuses: number[] }>();
  const answers = answersOf(operation);
  for (const { status, headers } of answers) {
    for (const { name, meaning } of headers) {
      const known = statusesByHeader.get(name) ?? { meaning, statuses: [] };
      known.statuses.push(status);
      statusesByHeader.set(name, known);
    }
  }
  const rows = [...statusesByHeader].map(([name, { meaning, statuses }]) => [
    `\`${name}\``,
    statuses.length === answers.length ? "all" : statuses.join(", "),
    meaning,
  ]);
  return table(["Header", "On", "Meaning"], rows);
}
