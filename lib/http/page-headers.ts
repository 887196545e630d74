import { settings } from "@/lib/config/settings";
import { pagePolicy } from "@/lib/http/content-security-policy";
import { files, pages, publications } from "@/lib/http/pages";
import type { HeaderList } from "@/lib/http/response";
import type { Route } from "@/lib/http/route";
import { pageAt, routeAt } from "@/lib/http/router";

/** The `Permissions-Policy` of every page: browser features that our pages never use. */
export const permissions = ["camera", "display-capture", "geolocation", "microphone", "payment", "usb"]
  .map((feature) => `${feature}=()`)
  .join(", ");

/** Routes that display something without being pages: static files, and previews of mails in development. */
const shown: readonly Route[] = [...Object.values(files), publications.emailPreviews];

/** The policy of everything else that is not a page: it displays nothing, whatever the browser takes it for. */
const showNothing = "default-src 'none'; frame-ancestors 'none'";

/**
 * The default headers of every response outside `/api` and `/hooks`. An unknown path gets those of the page
 * `/nothing-here`.
 */
export function headersAt(path: string): HeaderList {
  const route = routeAt(path);
  const page = pageAt(path) ?? (route ? undefined : pages.nothingHere);
  const { hsts } = settings();
  const headers = ["x-content-type-options", "nosniff"];
  if (hsts) headers.push("strict-transport-security", hsts);
  // The address of /unsubscribe has a token. Other pages need `Origin` with their forms, and `no-referrer` makes it `null`.
  headers.push("referrer-policy", page?.path === pages.unsubscribe.path ? "no-referrer" : "same-origin");
  // Publications may be embedded anywhere, pages nowhere.
  headers.push("cross-origin-resource-policy", !page && route?.isShared ? "cross-origin" : "same-origin");
  if (!page) {
    if (route && !shown.includes(route)) headers.push("content-security-policy", showNothing);
    return headers;
  }
  return [
    ...headers,
    "content-security-policy",
    pagePolicy(page),
    "cross-origin-opener-policy",
    "same-origin",
    "permissions-policy",
    permissions,
  ];
}
