import { settings } from "@/lib/config/settings";
import { pagePolicy } from "@/lib/http/content-security-policy";
import { files, pages, publications } from "@/lib/http/pages";
import type { HeaderList } from "@/lib/http/response";
import type { Route } from "@/lib/http/route";
import { pageAt, routeAt } from "@/lib/http/router";

/** What no page of ours asks a browser for. */
const permissions = ["camera", "display-capture", "geolocation", "microphone", "payment", "usb"]
  .map((feature) => `${feature}=()`)
  .join(", ");

/** What shows something, and is no page: the files of the build, and mails while they are worked on. */
const shown: readonly Route[] = [...Object.values(files), publications.emailPreviews];

/** The policy of everything else that is no page: it shows nothing, whatever a browser takes it for. */
const showNothing = "default-src 'none'; frame-ancestors 'none'";

/**
 * The headers of every answer outside `/api` and `/hooks`, beside those of its own handler. A path that is nowhere
 * shows the page that says so.
 *
 * @param nonce - names the inline scripts of the framework, on the pages that it renders
 */
export function headersAt(path: string, nonce: string): HeaderList {
  const route = routeAt(path);
  const page = pageAt(path) ?? (route ? undefined : pages.nothingHere);
  const { hsts } = settings();
  const headers = ["x-content-type-options", "nosniff"];
  if (hsts) headers.push("strict-transport-security", hsts);
  // Its address holds a token. From other pages a form's Origin has to arrive, and `no-referrer` makes it `null`.
  headers.push("referrer-policy", page?.path === pages.unsubscribe.path ? "no-referrer" : "same-origin");
  // What we publish may be shown and read anywhere; our pages are nobody's window or frame.
  headers.push("cross-origin-resource-policy", !page && route?.isShared ? "cross-origin" : "same-origin");
  if (!page) {
    if (route && !shown.includes(route)) headers.push("content-security-policy", showNothing);
    return headers;
  }
  return [
    ...headers,
    "content-security-policy",
    pagePolicy(page, nonce),
    "cross-origin-opener-policy",
    "same-origin",
    "permissions-policy",
    permissions,
  ];
}
