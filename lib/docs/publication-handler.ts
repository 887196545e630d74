import { dayMs } from "@/lib/config/durations";
import { ApiError } from "@/lib/http/errors";
import { hashContent, matchesEtag } from "@/lib/http/etag";
import { createHandler } from "@/lib/http/handler";
import type { Route } from "@/lib/http/route";

export type Publication = {
  /** The media type; JSON by default. */
  type?: string;
  /** A text, or an object that is sent as JSON. */
  body: string | object;
  headers?: Record<string, string>;
};

export type PublishOptions = {
  /** How long this process reuses the body; a day by default, because security.txt has an expiry date. */
  freshForMs?: number;
  /** How long caches may store it. */
  maxAgeSeconds?: number;
};

/**
 * The route handler of a publication for programs: readable from any origin, with a strong `ETag` and 304
 * (RFC 9110 §13.1.2). Answers 404 if `make` returns nothing.
 */
export function publish(
  route: Route,
  make: () => Publication | undefined | Promise<Publication | undefined>,
  { freshForMs = dayMs, maxAgeSeconds = 300 }: PublishOptions = {},
): (request: Request) => Promise<Response> {
  let made: ReturnType<typeof prepare> | undefined;
  let madeAtMs = Number.NEGATIVE_INFINITY;
  return createHandler(
    route,
    async ({ headers, nowMs }) => {
      if (nowMs >= madeAtMs + freshForMs) {
        made = prepare(await make(), maxAgeSeconds);
        madeAtMs = nowMs;
      }
      if (!made) throw new ApiError("not_found");
      const { etag, answer } = made;
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

function prepare(publication: Publication | undefined, maxAgeSeconds: number) {
  if (!publication) return undefined;
  const { type = "application/json", body: said, headers: own = {} } = publication;
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
