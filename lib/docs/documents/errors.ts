import type { DocumentText } from "@/lib/docs/document";
import { toOperation } from "@/lib/docs/documents/operations";
import { table, to } from "@/lib/docs/markdown";
import { type CatalogueEntry, type ErrorCode, errorCatalogue } from "@/lib/http/errors";
import { type Operation, operations } from "@/lib/http/register/operations";

/** One section per code, where `error.docs` points. */
export const errors: DocumentText = {
  title: "Error codes",
  group: "Rules",
  summary: "Every code: what it means, its status, when it is sent and what to do.",
  markdown:
    () => `Branch on \`error.code\` of [the error object](${to.errorObject}), which is stable between releases. Version 1 has only the ${Object.keys(errorCatalogue).length} codes below. To report a failure, quote the \`X-Request-Id\` of the response.

${table(
  ["Code", "Status", "Meaning"],
  codes.map(([name, { status, also, message }]) => [
    `[\`${name}\`](#${name})`,
    [status, ...(also?.match(/\b\d{3}\b/g) ?? [])].join(", "),
    message,
  ]),
)}

${codes.map(describe).join("\n\n")}
`,
};

const codes = Object.entries<CatalogueEntry>(errorCatalogue);

function describe([name, { status, also, when, message, hint }]: [string, CatalogueEntry]): string {
  const all = Object.entries<Operation>(operations);
  const senders = all.filter(([, { codes }]) =>
    Object.values(codes).some((some) => some.includes(name as ErrorCode)),
  );
  const links = senders.map(([operation]) => toOperation(operation as keyof typeof operations));
  return `## \`${name}\`

${message}

- **Sent by:** ${links.length === all.length ? "every operation" : links.join(", ") || "none of the operations"}
- **Status:** ${[status, also].filter(Boolean).join("; ")}
- **When:** ${when}
- **What to do:** ${hint.replaceAll("<", "\\<")}`;
}
