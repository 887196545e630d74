import type { DocumentText } from "@/lib/docs/document";
import { describeRetirement } from "@/lib/docs/documents/policy";
import { fieldTable } from "@/lib/docs/fields";
import { code, json, table, to, toCode } from "@/lib/docs/markdown";
import { operationWords } from "@/lib/docs/operation-descriptions";
import { answersOf } from "@/lib/docs/responses";
import { callSamples } from "@/lib/docs/samples";
import { errorCatalogue, type PublicErrorCode } from "@/lib/http/errors";
import { type Operation, type OperationName, operations } from "@/lib/http/operations";
import * as schemas from "@/lib/http/schemas";

/** The page of an operation: its description and fields, with samples and example responses in a panel. */
export function operationDocument(name: OperationName): DocumentText {
  const operation = operations[name];
  const { methods, path, summary } = operation;
  return {
    title: `${methods[0]} ${path}`,
    group: "Reference",
    operation,
    summary,
    markdown: () => describeOperation(name),
  };
}

function describeOperation(name: OperationName): string {
  const operation: Operation = operations[name];
  const { retirement } = operation;
  return [
    operation.summary,
    ...(retirement ? [`**Being retired:** ${describeRetirement(retirement)}`] : []),
    operationWords[name].about,
    "## Request",
    callSamples(operation),
    "## Fields",
    fieldLists(operation),
    "## Answers",
    examples(name),
    "## Statuses",
    statusTable(operation),
    "## Headers",
    headerTable(operation),
  ].join("\n\n");
}

function fieldLists(operation: Operation): string {
  const { answer, denial } = operation;
  const refused = denial
    ? `### If the account may not run\n\n${fieldTable(denial)}`
    : `A failure is [the error object](${to.errorObject}).`;
  return `${answer === schemas.unsubscribed ? "One line of plain text." : fieldTable(answer)}\n\n${refused}`;
}

function examples(name: OperationName): string {
  const { example } = operationWords[name];
  const blocks = answersOf(operations[name]).flatMap(({ status, refusals }) =>
    Object.entries(refusals).map(([error, body]) => json(body, `${status} ${error}`)),
  );
  const success = typeof example === "string" ? code("text", example, "200") : json(example, "200");
  return [success, ...blocks].join("\n\n");
}

function statusTable(operation: Operation): string {
  const rows = answersOf(operation).flatMap(({ status, meaning, refusals }) => {
    const codes = Object.keys(refusals) as PublicErrorCode[];
    if (codes.length === 0) return [[String(status), "", meaning]];
    return codes.map((name) => [
      String(status),
      toCode(name),
      codes.length > 1 ? errorCatalogue[name].message : meaning,
    ]);
  });
  return table(["Status", "Code", "Meaning"], rows);
}

function headerTable(operation: Operation): string {
  const answers = answersOf(operation);
  const headers = answers.flatMap(({ status, headers }) => headers.map((header) => ({ ...header, status })));
  const rows = [...Map.groupBy(headers, ({ name }) => name)].map(([name, on]) => [
    `\`${name}\``,
    on.length === answers.length ? "all" : on.map(({ status }) => status).join(", "),
    on[0]?.meaning ?? "",
  ]);
  return table(["Header", "On", "Meaning"], rows);
}
