import { ApiError } from "@/lib/http/errors";
import { hashContent, matchesEtag } from "@/lib/http/etag";
import { handleEndpoint, type RouteHandler } from "@/lib/http/handler";
import { inPlainText, type ResponseParts } from "@/lib/http/response";
import type { Route } from "@/lib/http/route";

/** What a publication says: a text, or an object that is sent as JSON. */
export type Publication = Pick<ResponseParts, "mediaType" | "headers"> & { body: string | object };

/** @param url - of the request: some are at two addresses */
export type MakePublication = (url: URL) => Publication | undefined | Promise<Publication | undefined>;

/** The handler of a publication for programs, with `ETag` and 304. 404 if there is none. */
export function publish(route: Route, make: MakePublication): RouteHandler {
  return handleEndpoint(route, { explain: inPlainText }, async ({ headers: sent, url }) => {
    const publication = await make(url);
    if (!publication) throw new ApiError("not_found");
    const { mediaType = "application/json", body: said, headers = [] } = publication;
    const body = typeof said === "string" ? said : JSON.stringify(said);
    const etag = `"${hashContent(body)}"`;
    const answer = { mediaType, headers: [...headers, "etag", etag] };
    return matchesEtag(sent.get("if-none-match"), etag)
      ? { ...answer, status: 304, body: null }
      : { ...answer, status: 200, body };
  });
}

/** A publication of plain lines. */
export const plainText = (lines: readonly string[]) => ({
  mediaType: "text/plain; charset=utf-8",
  body: lines.join("\n"),
});
