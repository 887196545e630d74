import type { DocumentPage } from "@/lib/docs/document";
import { to } from "@/lib/docs/links";
import { code, table } from "@/lib/docs/markdown";
import { answersOf } from "@/lib/docs/responses";
import { type Operation, operations } from "@/lib/http/operations";
import { documentPages } from "@/lib/http/pages";
import { maxRequestIdCharacters } from "@/lib/http/request-context";

/** Every header of the API, in one place. */
export const headers: DocumentPage = {
  path: documentPages.headers.path,
  title: "Headers",
  group: "Reference",
  summary: "Every header of requests and responses.",
  markdown: () => `# Headers

Header names are case-insensitive, as everywhere in HTTP.

## Request headers

All are optional, except \`Authorization\` for operations that need [a session](${to.authentication}).

| Header | Meaning |
| --- | --- |
| \`Authorization\` | \`Bearer\` and the session token. Two of these headers count as an invalid token. |
| \`API-Version\` | \`1\` selects major version 1, and so does omitting the header. Anything else answers \`400\`. |
| \`X-Request-Id\` | Your id for the request, up to ${maxRequestIdCharacters} letters, digits and \`. _ : -\`. Our log and the response repeat it. |

## Response headers

${table(["Header", "Meaning"], described())}

## A complete response

${code("http", example())}
`,
};

/** Each header of any response, once, with its meaning. */
function described(): string[][] {
  const all = Object.values<Operation>(operations).flatMap(answersOf);
  const byName = Map.groupBy(
    all.flatMap(({ headers }) => headers),
    ({ name }) => name,
  );
  return [...byName].map(([name, [first]]) => [`\`${name}\``, first?.meaning ?? ""]);
}

function example(): string {
  const [answer] = answersOf(operations.health);
  const sent = answer?.headers.filter(({ always }) => always) ?? [];
  return ["HTTP/1.1 200 OK", ...sent.map(({ name, example }) => `${name}: ${example}`)].join("\n");
}
