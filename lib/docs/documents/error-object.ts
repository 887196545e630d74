import type { DocumentText } from "@/lib/docs/document";
import { fieldTable } from "@/lib/docs/fields";
import { json, to, toCode } from "@/lib/docs/markdown";
import { exampleRefusal } from "@/lib/docs/responses";
import { apiError, operations } from "@/lib/http/register/operations";

export const errorObject: DocumentText = {
  title: "The error object",
  group: "Reference",
  summary: "The one shape of every failure, and how to use its four fields.",
  markdown:
    () => `Every failure of every operation, and every unknown path, answers with this JSON. One parser is enough.

${json(exampleRefusal("not_found"))}

## Fields

${fieldTable(apiError)}

## Use it

- Branch on \`error.code\`: it stays the same between releases, and [the list](${to.errors}) is closed within a version.
- Show \`error.message\` and \`error.hint\` to people: they are plain sentences whose wording may change.
- Link to \`error.docs\` for details: it leads to the section about the code.
- Do not branch on the status alone: \`503\` can be ${toCode("unavailable")}, which is temporary, or ${toCode("not_configured")}, which is not.

## A denied entitlement

[\`GET /api/entitlement\`](${to.entitlementOperation}) denies with the same object and additional fields:

${json(exampleRefusal("trial_ended", operations.entitlement.denial))}
`,
};
