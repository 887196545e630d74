import { searchDocuments } from "@/lib/docs/search";
import { handleOperation } from "@/lib/http/handler";
import { forms } from "@/lib/http/register/forms";
import { pages } from "@/lib/http/register/pages";

const maxHits = 8;

/** A search hit in the palette; `kind` is its heading. */
export type PaletteHit = { kind: "Error codes" | "Documents"; path: string; title: string; snippet: string };

/** The search results that the palette shows during typing. */
export const { GET } = handleOperation(forms.findHits, {}, ({ query }) => ({
  status: 200,
  body: searchDocuments((query.get("q") ?? "").slice(0, 200), maxHits).map(
    ({ path, title, snippet }): PaletteHit => ({ kind: kindOf(path), path, title, snippet }),
  ),
  caching: "private, max-age=300",
}));

const kindOf = (path: string) => (path.startsWith(`${pages.errors.path}#`) ? "Error codes" : "Documents");
