import { settings } from "@/lib/config/settings";
import { officePolicy, pagePolicy, showNothing } from "@/lib/http/content-security-policy";
import { files, isPage, pages, previews } from "@/lib/http/pages";
import type { Route } from "@/lib/http/route";
import { processSingleton } from "@/lib/process-singleton";

/** The `Permissions-Policy` of every page: browser features that our pages never use. */
const permissions = ["camera", "display-capture", "geolocation", "microphone", "payment", "usb"]
  .map((feature) => `${feature}=()`)
  .join(", ");

/** Routes that display something without being pages: static files, and previews of mails in development. */
const shown: readonly Route[] = [...Object.values(files), previews.emails];

const headersByRoute = () =>
  processSingleton("default headers", () => new Map<Route | undefined, readonly string[]>());

/** The headers that every response of a route has, made once. Without a route they are those of the API. */
export function defaultHeaders(route: Route | undefined): readonly string[] {
  const known = headersByRoute().get(route);
  if (known) return known;
  const headers = headersOf(route);
  headersByRoute().set(route, headers);
  return headers;
}

function headersOf(route: Route | undefined): readonly string[] {
  const { hsts, office } = settings();
  const officeHsts = office?.url.startsWith("https:") ? "max-age=31536000" : undefined;
  const ownHsts = route?.site === "office" ? officeHsts : hsts;
  const headers = ["x-content-type-options", "nosniff"];
  if (ownHsts) headers.push("strict-transport-security", ownHsts);
  // Without credentials.
  if (route?.anyOrigin) headers.push("access-control-allow-origin", "*");
  if (route?.anyOrigin) headers.push("access-control-expose-headers", route.anyOrigin.reads);
  if (!route || route.site === "api") return [...headers, ...headersOfApi(route)];
  if (route.site === "office")
    return [...headers, ...headersOfPage(officePolicy), "referrer-policy", "same-origin"];
  // The address of /unsubscribe has a token. Other pages need `Origin` with their forms, and `no-referrer` makes it `null`.
  headers.push("referrer-policy", route.path === pages.unsubscribe.path ? "no-referrer" : "same-origin");
  if (isPage(route)) return [...headers, ...headersOfPage(pagePolicy(route))];
  // Publications may be embedded anywhere, pages nowhere.
  headers.push("cross-origin-resource-policy", route.isShared ? "cross-origin" : "same-origin");
  return shown.includes(route) ? headers : [...headers, "content-security-policy", showNothing];
}

const headersOfPage = (policy: string): readonly string[] => [
  "cross-origin-resource-policy",
  "same-origin",
  "content-security-policy",
  policy,
  "cross-origin-opener-policy",
  "same-origin",
  "permissions-policy",
  permissions,
];

/** The headers of every response under `/api`, `/mcp` and `/hooks`, and of each refusal that no route answers. */
function headersOfApi(route: Route | undefined): readonly string[] {
  const { appUrl } = settings();
  const links = [`<${appUrl}${pages.policy.path}>; rel="deprecation"; type="text/html"`];
  const headers = [
    "api-version",
    "1",
    "referrer-policy",
    "no-referrer",
    "content-security-policy",
    showNothing,
  ];
  if (route?.caching?.startsWith("public")) headers.push("vary", "API-Version");
  if (route?.retirement) {
    const { deprecatedAt, sunsetAt, guide } = route.retirement;
    // RFC 9745: `@` and Unix seconds. RFC 8594: an HTTP date.
    headers.push("deprecation", `@${Math.floor(Date.parse(deprecatedAt) / 1000)}`);
    headers.push("sunset", new Date(sunsetAt).toUTCString());
    links.push(`<${appUrl}${guide}>; rel="sunset"; type="text/html"`);
  }
  return [...headers, "link", links.join(", ")];
}
