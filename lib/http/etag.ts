import { createHash } from "node:crypto";

/** The hash of content, for its `ETag`. */
export function hashContent(content: Buffer | string): string {
  return createHash("sha256").update(content).digest("base64url").slice(0, 27);
}

/** Whether `If-None-Match` names this tag, weakly (RFC 9110 §8.8.3.2): a proxy that compresses adds `W/`. */
export function matchesEtag(ifNoneMatch: string | null | undefined, etag: string): boolean {
  const tags = ifNoneMatch?.split(",") ?? [];
  return tags.some((tag) => ["*", etag].includes(tag.trim().replace(/^W\//, "")));
}
