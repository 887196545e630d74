import { refusal } from "@/lib/api/headers";
import { actions } from "@/lib/api/pages";
import { searchDocuments } from "@/lib/docs/search";
import { hall } from "@/lib/pages/hall";

const mostHits = 8;

/** What the search box shows while one types. */
export const GET = hall(
  actions.findHits,
  ({ url }) => ({
    status: 200,
    body: searchDocuments((url.searchParams.get("q") ?? "").slice(0, 200), mostHits),
    caching: "private, max-age=300",
  }),
  { say: (error) => refusal(error) },
);
