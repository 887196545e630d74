import type { Call } from "@/lib/http/call";
import { ApiError } from "@/lib/http/errors";

/** Refuses a POST from a page of another site: browsers send `Origin` with each, and no page can forge it. */
export function requireOwnOrigin({ site: { url }, headers }: Call): void {
  if (headers.get("origin") === url) return;
  throw new ApiError("forbidden", {
    message: `Open this form at ${url} instead.`,
    hint: "Forms are only accepted from our own pages.",
  });
}
