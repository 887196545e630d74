import type { DocumentText } from "@/lib/docs/document";
import { code, table, to } from "@/lib/docs/markdown";
import { headerMeanings, headersOf } from "@/lib/docs/response-headers";
import { maxRequestIdCharacters } from "@/lib/http/call";
import { operations } from "@/lib/http/register/operations";

/** Every header of the API, in one place. */
export const headers: DocumentText = {
  title: "Headers",
  group: "Reference",
  summary: "Every header of requests and responses.",
  markdown: () => `Header names are case-insensitive, as everywhere in HTTP.

## Request headers

All are optional, except \`Authorization\` for operations that need [a session](${to.authentication}).

| Header | Meaning |
| --- | --- |
| \`Authorization\` | \`Bearer\` and the session token. Two of these headers count as an invalid token. |
| \`DPoP\` | With \`Authorization: DPoP\` and a token that is [bound to a key](${to.authentication}#tokens-that-only-their-holder-can-use): the proof for this request (RFC 9449). |
| \`API-Version\` | \`1\` selects major version 1, and so does omitting the header. Anything else answers \`400\`. |
| \`X-Request-Id\` | Your id for the request, up to ${maxRequestIdCharacters} letters, digits and \`. _ : -\`. Our log and the response repeat it. |

## Response headers

${table(
  ["Header", "Meaning"],
  Object.entries(headerMeanings).map(([name, meaning]) => [`\`${name}\``, meaning]),
)}

## A complete response

${code("http", example())}
`,
};

function example(): string {
  const sent = headersOf(operations.health, 200).filter(({ always }) => always);
  return ["HTTP/1.1 200 OK", ...sent.map(({ name, example }) => `${name}: ${example}`)].join("\n");
}
