import { refusal } from "@/lib/api/headers";
import { actions, pages } from "@/lib/api/pages";
import { searchDocuments } from "@/lib/docs/search";
import { hall } from "@/lib/pages/hall";

const mostHits = 8;

/** What the palette shows of a hit, and under which heading. */
export type PaletteHit = { kind: "Error codes" | "Documents"; path: string; title: string; snippet: string };

/** What the palette shows while one types. */
export const GET = hall(
  actions.findHits,
  ({ url }) => ({
    status: 200,
    body: searchDocuments((url.searchParams.get("q") ?? "").slice(0, 200), mostHits).map(
      ({ path, title, snippet }): PaletteHit => ({ kind: kindOf(path), path, title, snippet }),
    ),
    caching: "private, max-age=300",
  }),
  { say: (error) => refusal(error) },
);

const kindOf = (path: string) => (path.startsWith(`${pages.errors.path}#`) ? "Error codes" : "Documents");
