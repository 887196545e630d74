import type { Call } from "@/lib/http/call";
import { ApiError } from "@/lib/http/errors";

/** Refuses a POST from a page of another site: browsers send `Origin` with each, and no page can forge it. */
export function requireOwnOrigin({ site: { url }, headers }: Pick<Call, "site" | "headers">): void {
  const origin = headers.get("origin");
  if (origin === url) return;
  // Without its value, where a proxy or an extension has pages send no referrer: browsers then say only how the two sites differ.
  const isHidden = origin === null || origin === "null";
  if (isHidden && headers.get("sec-fetch-site") === "same-origin") return;
  throw new ApiError("forbidden", {
    message: `Open this form at ${url} instead.`,
    hint: "Forms are only accepted from our own pages.",
  });
}
