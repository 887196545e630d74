import { createHash } from "node:crypto";
import { ApiError } from "@/lib/api/errors";
import type { Place } from "@/lib/api/pages";
import { hall } from "@/lib/pages/hall";

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
  place: Place,
  make: () => Publication | undefined | Promise<Publication | undefined>,
  { goodForMs = 24 * 60 * 60 * 1000, maxAgeSeconds = 300 }: PublishOptions = {},
): (request: Request) => Promise<Response> {
  let made: ReturnType<typeof prepare> | undefined;
  let madeAtMs = Number.NEGATIVE_INFINITY;
  return hall(
    place,
    async ({ headers, nowMs }) => {
      if (nowMs >= madeAtMs + goodForMs) {
        made = prepare(await make(), maxAgeSeconds);
        madeAtMs = nowMs;
      }
      if (!made) throw new ApiError("not_found");
      const { etag, answer } = made;
      const known = headers.get("if-none-match")?.split(",") ?? [];
      // The comparison is the weak one: a proxy that compressed the body marks the tag with W/.
      const isKnown = known.some((tag) => ["*", etag].includes(tag.trim().replace(/^W\//, "")));
      return isKnown ? { ...answer, status: 304, body: null } : answer;
    },
    {
      say: ({ status, message, headers }) => ({
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
  const etag = `"${createHash("sha256").update(body).digest("base64url").slice(0, 27)}"`;
  const headers = [
    ...Object.entries(own).flat(),
    ...["etag", etag],
    ...["access-control-allow-origin", "*"],
    ...["access-control-expose-headers", "ETag, Link"],
  ];
  const caching = `public, max-age=${maxAgeSeconds}`;
  return { etag, answer: { status: 200, body, mediaType: type, headers, caching } };
}
