import { settings } from "@/lib/config/settings";
import { officePolicy, pagePolicy, showNothing } from "@/lib/http/content-security-policy";
import { files } from "@/lib/http/register/files";
import { isPage, pages } from "@/lib/http/register/pages";
import { previews } from "@/lib/http/register/probes";
import type { Route } from "@/lib/http/route";
import { perProcess } from "@/lib/per-process";

/** The `Permissions-Policy` of every page: browser features that our pages never use. */
const permissions = ["camera", "display-capture", "geolocation", "microphone", "payment", "usb"]
  .map((feature) => `${feature}=()`)
  .join(", ");

/** Routes that display something without being pages: static files, and previews of mails in development. */
const shown: readonly Route[] = [...Object.values(files), previews.emails];

const headersByRoute = perProcess("default headers", () => new Map<Route | undefined, readonly string[]>());

/** The headers that every response of a route has, made once. Without a route they are those of the API. */
export function defaultHeaders(route: Route | undefined): readonly string[] {
  const known = headersByRoute().get(route);
  if (known) return known;
  const headers = headersOf(route);
  headersByRoute().set(route, headers);
  return headers;
}

type Headings = Record<string, string | undefined>;

function headersOf(route: Route | undefined): readonly string[] {
  const { hsts, office } = settings();
  const officeHsts = office?.url.startsWith("https:") ? "max-age=31536000" : undefined;
  const headers: Headings = {
    "x-content-type-options": "nosniff",
    "strict-transport-security": route?.site === "office" ? officeHsts : hsts,
    // Without credentials.
    "access-control-allow-origin": route?.anyOrigin && "*",
    "access-control-expose-headers": route?.anyOrigin?.reads,
    ...headersOfKind(route),
  };
  return Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [name, value]));
}

function headersOfKind(route: Route | undefined): Headings {
  if (!route || route.site === "api") return headersOfApi(route);
  if (route.site === "backend")
    return { "referrer-policy": "no-referrer", "content-security-policy": showNothing };
  if (route.site === "office") return headersOfPage(route, officePolicy);
  if (isPage(route)) {
    const headers = headersOfPage(route, pagePolicy(route));
    // Isolated from its opener, a window counts as closed there, and its callback page finds no opener to tell.
    return route.isInAppsWindow ? { ...headers, "cross-origin-opener-policy": undefined } : headers;
  }
  return {
    "referrer-policy": "same-origin",
    // Publications may be embedded anywhere, pages nowhere.
    "cross-origin-resource-policy": route.isShared ? "cross-origin" : "same-origin",
    "content-security-policy": shown.includes(route) ? undefined : showNothing,
  };
}

const headersOfPage = ({ path }: Route, policy: string): Headings => ({
  // The address of /unsubscribe has a token. Other pages need `Origin` with their forms, and `no-referrer` makes it `null`.
  "referrer-policy": path === pages.unsubscribe.path ? "no-referrer" : "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "content-security-policy": policy,
  "cross-origin-opener-policy": "same-origin",
  "permissions-policy": permissions,
});

/** The headers of every response under `/api`, `/mcp` and `/hooks`, and of each refusal that no route answers. */
function headersOfApi({ caching, retirement }: Partial<Route> = {}): Headings {
  const { appUrl } = settings();
  const policy = `<${appUrl}${pages.policy.path}>; rel="deprecation"; type="text/html"`;
  const guide = retirement && `, <${appUrl}${retirement.guide}>; rel="sunset"; type="text/html"`;
  return {
    "api-version": "1",
    "referrer-policy": "no-referrer",
    "content-security-policy": showNothing,
    vary: caching?.startsWith("public") ? "API-Version" : undefined,
    // RFC 9745: `@` and Unix seconds. RFC 8594: an HTTP date.
    deprecation: retirement && `@${Math.floor(Date.parse(retirement.deprecatedAt) / 1000)}`,
    sunset: retirement && new Date(retirement.sunsetAt).toUTCString(),
    link: policy + (guide ?? ""),
  };
}
