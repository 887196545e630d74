import type { DocumentPage } from "@/lib/docs/document";
import { fieldTable } from "@/lib/docs/documents/operations";
import { to, toCode } from "@/lib/docs/links";
import { code } from "@/lib/docs/markdown";
import { exampleRefusal } from "@/lib/docs/responses";
import { documentPages } from "@/lib/http/pages";
import { apiError, entitlementDenied } from "@/lib/http/schemas";

/** The one shape of every failure. */
export const errorObject: DocumentPage = {
  path: documentPages.errorObject.path,
  title: "The error object",
  group: "Reference",
  summary: "The one shape of every failure, and how to use its four fields.",
  markdown: () => `# The error object

Every failure of every operation, and every address that is not there, answers this JSON. One parser is enough.

${code("json", JSON.stringify(exampleRefusal("not_found"), null, 2))}

## Fields

${fieldTable(apiError)}

## Use it

- Branch on \`error.code\`: it stays the same between releases, and [the list](${to.errors}) is closed within a version.
- Show \`error.message\` and \`error.hint\` to people: they are plain sentences, and may be put better any day.
- Open \`error.docs\` for whoever wants to know more: it leads to the code itself.
- Do not branch on the status alone: \`503\` is ${toCode("unavailable")}, which passes, and ${toCode("not_configured")}, which does not.

## A denied entitlement

[\`GET /api/entitlement\`](${to.entitlementOperation}) says no with the same object, beside fields of its own:

${code("json", JSON.stringify(exampleRefusal("trial_ended", entitlementDenied), null, 2))}
`,
};
