import { dayMs } from "@/lib/config/durations";
import { ApiError } from "@/lib/http/errors";
import { hashContent, matchesEtag } from "@/lib/http/etag";
import { createHandler } from "@/lib/http/handler";
import type { Route } from "@/lib/http/route";

export type Publication = {
  /** Its media type. */
  type: string;
  body: string;
  headers?: Record<string, string>;
};

type PublishOptions = {
  /** How long what was made is good here; a day, because security.txt names its end. */
  goodForMs?: number;
  /** How long others may keep it. */
  maxAgeSeconds?: number;
};

/**
 * The route handler of something we publish to programs: readable from any origin, with a strong `ETag`, and 304
 * to whoever has it already (RFC 9110 §13.1.2). Where there is nothing to publish, a 404.
 */
export function publish(
  route: Route,
  make: () => Publication | undefined | Promise<Publication | undefined>,
  { goodForMs = dayMs, maxAgeSeconds = 300 }: PublishOptions = {},
): (request: Request) => Promise<Response> {
  let made: ReturnType<typeof prepare> | undefined;
  let madeAtMs = Number.NEGATIVE_INFINITY;
  return createHandler(
    route,
    async ({ headers, nowMs }) => {
      if (nowMs >= madeAtMs + goodForMs) {
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
  const { type, body, headers: own = {} } = publication;
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
