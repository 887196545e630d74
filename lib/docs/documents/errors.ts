import { type CatalogueEntry, errorCatalogue } from "@/lib/api/errors";
import { documentPages } from "@/lib/api/pages";
import { exampleRefusal } from "@/lib/docs/answers";
import type { DocumentPage } from "@/lib/docs/document";
import { code } from "@/lib/docs/markdown";

const example = () => exampleRefusal("not_found");

/** One anchor a code: where `error.docs` points. */
export const errors: DocumentPage = {
  path: documentPages.errors.path,
  title: "Error codes",
  summary: "Every code: what it means, its status, when it is sent and what to do.",
  markdown: () => `# Error codes

Every failure has one shape. Branch on \`error.code\`, which is stable between releases; show \`message\` and \`hint\` to people; \`docs\` points to the code on this page.

${code("json", JSON.stringify(example(), null, 2))}

The ${Object.keys(errorCatalogue).length} codes below are all there are in version 1. To report a failure, quote the \`X-Request-Id\` of the answer.

${Object.entries<CatalogueEntry>(errorCatalogue).map(describe).join("\n\n")}
`,
};

function describe([name, { status, also, when, message, hint }]: [string, CatalogueEntry]): string {
  const statuses = status ? [status, also].filter(Boolean).join("; ") : "none in the public API";
  return `## \`${name}\`

- **Meaning:** ${message}
- **Status:** ${statuses}
- **When:** ${when}
- **What to do:** ${hint.replaceAll("<", "\\<")}`;
}
