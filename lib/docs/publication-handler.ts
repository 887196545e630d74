import { ApiError } from "@/lib/http/errors";
import { hashContent, matchesEtag } from "@/lib/http/etag";
import { createHandler, type RouteHandler } from "@/lib/http/handler";
import type { Route } from "@/lib/http/route";

export type Publication = {
  /** The media type; JSON by default. */
  type?: string;
  /** A text, or an object that is sent as JSON. */
  body: string | object;
  headers?: Record<string, string>;
};

/**
 * The route handler of a publication for programs: readable from any origin, with a strong `ETag` and 304
 * (RFC 9110 §13.1.2). Answers 404 if `make` returns nothing.
 *
 * @param maxAgeSeconds - how long our server and other caches may store it
 */
export function publish(
  route: Route,
  make: () => Publication | undefined | Promise<Publication | undefined>,
  maxAgeSeconds = 300,
): RouteHandler {
  return createHandler(
    route,
    async ({ headers }) => {
      const publication = await make();
      if (!publication) throw new ApiError("not_found");
      const { etag, answer } = prepare(publication, maxAgeSeconds);
      return matchesEtag(headers.get("if-none-match"), etag)
        ? { ...answer, status: 304, body: null }
        : answer;
    },
    {
      renderError: ({ status, message, headers }) => ({
        status,
        body: `${message}\n`,
        headers: Object.entries(headers).flat(),
      }),
    },
  );
}

function prepare(
  { type = "application/json", body: said, headers: own = {} }: Publication,
  maxAgeSeconds: number,
) {
  const body = typeof said === "string" ? said : JSON.stringify(said);
  const etag = `"${hashContent(body)}"`;
  const headers = [
    ...Object.entries(own).flat(),
    "etag",
    etag,
    "access-control-allow-origin",
    "*",
    "access-control-expose-headers",
    "ETag, Link",
  ];
  const caching = `public, max-age=${maxAgeSeconds}`;
  return { etag, answer: { status: 200, body, mediaType: type, headers, caching } };
}
