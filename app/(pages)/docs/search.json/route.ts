import { searchDocuments } from "@/lib/docs/search";

const mostHits = 8;

/** What the search box shows while one types. */
export function GET(request: Request): Response {
  const query = new URL(request.url).searchParams.get("q") ?? "";
  return Response.json(searchDocuments(query.slice(0, 200), mostHits), {
    headers: { "Cache-Control": "public, max-age=300" },
  });
}
