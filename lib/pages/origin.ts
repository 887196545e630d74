import { settings } from "@/lib/settings/settings";

/**
 * Whether a POST comes from a page of ours: its `Origin`, which every browser sends with a POST and no page
 * can forge, is our address. A request without one is not a browser's form.
 */
export function isFromOurPages(headers: Pick<Headers, "get">): boolean {
  return headers.get("origin") === settings().appUrl;
}
