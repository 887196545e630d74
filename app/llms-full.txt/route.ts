import { makePortable } from "@/lib/docs/document";
import { documents } from "@/lib/docs/documents";
import { plainText, publish } from "@/lib/docs/publication-handler";
import { publications } from "@/lib/http/register/publications";

export const { GET, HEAD, OPTIONS } = publish(publications.llmsFull, () =>
  plainText(documents.map(({ markdown }) => makePortable(markdown()))),
);
