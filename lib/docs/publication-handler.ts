import { ApiError } from "@/lib/http/errors";
import { hashContent, matchesEtag } from "@/lib/http/etag";
import { createHandler, type RouteHandler } from "@/lib/http/handler";
import { inPlainText, type ResponseParts } from "@/lib/http/response";
import type { Route } from "@/lib/http/route";

/** What a publication says: a text, or an object that is sent as JSON. */
export type Publication = Pick<ResponseParts, "mediaType" | "headers"> & { body: string | object };

const forAnyOrigin = ["access-control-allow-origin", "*", "access-control-expose-headers", "ETag, Link"];

/** The handler of a publication for programs: any origin may read it, with `ETag` and 304. 404 if there is none. */
export function publish(
  route: Route,
  make: () => Publication | undefined | Promise<Publication | undefined>,
  maxAgeSeconds = 300,
): RouteHandler {
  return createHandler(
    route,
    async (call) => {
      const publication = await make();
      if (!publication) throw new ApiError("not_found");
      const { mediaType = "application/json", body: said, headers: own = [] } = publication;
      const body = typeof said === "string" ? said : JSON.stringify(said);
      const etag = `"${hashContent(body)}"`;
      const headers = [...own, "etag", etag, ...forAnyOrigin];
      const answer = { mediaType, headers, caching: `public, max-age=${maxAgeSeconds}` };
      return matchesEtag(call.headers.get("if-none-match"), etag)
        ? { ...answer, status: 304, body: null }
        : { ...answer, status: 200, body };
    },
    { renderError: inPlainText },
  );
}
