import { createHash } from "node:crypto";

type Publication = {
  /** Its media type. */
  type: string;
  body: string;
  headers?: Record<string, string>;
};

/**
 * Answers a GET or HEAD for something we publish to programs: readable from any origin, with a strong
 * `ETag`, and 304 to whoever has it already (RFC 9110 §13.1.2).
 */
export function publish(request: Request, { type, body, headers = {} }: Publication): Response {
  const etag = `"${createHash("sha256").update(body).digest("base64url").slice(0, 27)}"`;
  const common = {
    ETag: etag,
    "Cache-Control": "public, max-age=300",
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Expose-Headers": "ETag, Link",
    ...headers,
  };
  const known = request.headers.get("if-none-match")?.split(",") ?? [];
  // The comparison is the weak one: a proxy that compressed the body marks the tag with W/.
  const isKnown = known.some((tag) => ["*", etag].includes(tag.trim().replace(/^W\//, "")));
  if (isKnown) return new Response(null, { status: 304, headers: common });
  return new Response(body, { headers: { ...common, "Content-Type": type } });
}
