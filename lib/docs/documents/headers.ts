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
  summary: "Every header that a request may carry and that an answer can bring.",
  markdown: () => `# Headers

Names are in any letter case, as everywhere in HTTP.

## Of a request

All are optional but \`Authorization\` where [a session](${to.authentication}) is needed.

${table(
  ["Header", "Meaning"],
  [
    ["`Authorization`", "`Bearer` and the session token. Two of them are a bad token."],
    ["`API-Version`", "`1` selects major version 1; so does nothing. Anything else is a `400`."],
    [
      "`X-Request-Id`",
      `Your name for the request, up to ${maxRequestIdCharacters} letters, digits and \`. _ : -\`. It is in our log, and on the answer.`,
    ],
  ],
)}

## Of an answer

${table(["Header", "Meaning"], described())}

## An answer, whole

${code("http", example())}
`,
};

/** Each header that any operation answers with, once, with what it means. */
function described(): string[][] {
  const meanings = new Map<string, string>();
  for (const operation of Object.values<Operation>(operations)) {
    for (const { headers } of answersOf(operation)) {
      for (const { name, meaning } of headers) if (!meanings.has(name)) meanings.set(name, meaning);
    }
  }
  return [...meanings].map(([name, meaning]) => [`\`${name}\``, meaning]);
}

function example(): string {
  const [answer] = answersOf(operations.health);
  const sent = answer?.headers.filter(({ always }) => always) ?? [];
  return ["HTTP/1.1 200 OK", ...sent.map(({ name, example }) => `${name}: ${example}`)].join("\n");
}
