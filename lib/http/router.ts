import { isIP } from "node:net";
import { isLoopback } from "@/lib/config/loopback";
import { settings } from "@/lib/config/settings";
import type { Call, SentHeaders, Site } from "@/lib/http/call";
import { ApiError, errorCatalogue } from "@/lib/http/errors";
import { escapeHtml } from "@/lib/http/escape-html";
import { plainPage } from "@/lib/http/plain-page";
import { isProgramPath } from "@/lib/http/program-path";
import { allRoutes } from "@/lib/http/register/all-routes";
import { isPage } from "@/lib/http/register/pages";
import { clientVersion } from "@/lib/http/register/publications";
import { type Answer, type Explain, errorParts, finalizeResponse } from "@/lib/http/response";
import type { Route } from "@/lib/http/route";
import { perProcess } from "@/lib/per-process";

/** The methods that change nothing. */
export const readMethods = ["GET", "HEAD"];

/** The public site. A page says that there is nothing at an unknown address. */
export const publicSite: Site = {
  get url() {
    return settings().appUrl;
  },
  routeAt: (path) => enabledRoutes().get(path),
  clientVersion,
  isProxied: true,
  hasPageFor: ({ method, path }) => readMethods.includes(method) && !isProgramPath(path),
};

const enabledRoutes = perProcess(
  "enabled routes",
  () => new Map([...allRoutes].filter(([, route]) => isEnabled(route))),
);

/** Whether a route is enabled: some depend on the kind of sign-in, on a setting, or on development mode. */
function isEnabled({ under, onlyInDevelopment, onlyWithRegistration, onlyWithScheduler }: Route): boolean {
  const { signIn, production, connectRegistration, cronSecret } = settings();
  if (onlyWithScheduler && !cronSecret) return false;
  if ((onlyInDevelopment && production) || (onlyWithRegistration && !connectRegistration)) return false;
  return !under || under.includes(signIn.kind);
}

/**
 * What a request gets in place of a handler's answer: 404 at an unknown address, 405 for a method that its address lacks, 308
 * to the page without a slash at its end or a dot behind its host, 302 to today's client file, 421 at another host.
 * `undefined` if its route's handler answers it, or, without a route, the page that says that there is nothing.
 */
export function decide(call: Call, explain: Explain = errorParts): Answer | Promise<Answer> | undefined {
  const refused = rejectUnrouted(call);
  if (refused) {
    const shown = explain(refused, call);
    return shown instanceof Promise
      ? shown.then((parts) => refuse(call, refused, parts))
      : refuse(call, refused, shown);
  }
  if (call.route) return answerWrongHost(call, call.route);
  return redirectTrailingSlash(call) ?? redirectEarlierClient(call);
}

/** The 404 of an unknown address, unless a page says it, and the 405 of a method that an address lacks. */
export function rejectUnrouted(call: Call): ApiError | undefined {
  const { route, method, site } = call;
  if (!route) return site.hasPageFor(call) ? undefined : notFound(call);
  const methods: readonly string[] = route.methods;
  return methods.includes(method) ? undefined : methodNotAllowed(route);
}

/** Refuses a request before its handler, with the headers of the API unless its route has others. */
export function refuse(call: Call, error: ApiError, parts = errorParts(error)): Answer {
  return finalizeResponse(call, call.route?.site ? call.route : undefined, parts);
}

/** A page of another site can only go on to the next address if it can read that this one is not there. */
function notFound({ path }: Call): ApiError {
  const headers = path.startsWith("/.well-known/") ? { "access-control-allow-origin": "*" } : {};
  return new ApiError("not_found", { headers });
}

/**
 * The 405 of a route, with the methods that it accepts (RFC 9110 §15.5.6), and what else there is. It does not repeat the
 * query, which may have a token.
 */
function methodNotAllowed({ methods, otherwise }: Route): ApiError {
  const headers = { allow: methods.join(", ") };
  if (!otherwise) return new ApiError("method_not_allowed", { headers });
  const { says, page } = otherwise;
  const hint = `${errorCatalogue.method_not_allowed.hint} ${says.replace("%s", settings().appUrl + page)}`;
  return new ApiError("method_not_allowed", { headers, hint });
}

/** Redirects from a page's path with a slash at its end to the page. `undefined` for other paths. */
function redirectTrailingSlash(call: Call): Answer | undefined {
  const { site, path, search } = call;
  if (!path.endsWith("/") || path === "//") return undefined;
  const page = site.routeAt(path.slice(0, -1));
  if (!page || !isPage(page)) return undefined;
  return redirect(call, page.path + search);
}

/**
 * Redirects from a client file of an earlier version, which documents and lock files of then name, to today's, if the major
 * version is the same. Not for good: the next release has another. A client that follows no redirect gets words that no
 * compiler takes for a file.
 */
function redirectEarlierClient(call: Call): Answer | undefined {
  const { site, method, path } = call;
  const { clientVersion: today = "" } = site;
  const [folder, version = "", major] = /\/((\d+)\.\d+\.\d+)\/(?=[^/]+$)/.exec(path) ?? [];
  if (!folder || !today.startsWith(`${major}.`) || !readMethods.includes(method)) return undefined;
  const isEarlier = version.localeCompare(today, "en", { numeric: true }) < 0;
  if (!isEarlier) return undefined;
  const newest = path.replace(folder, `/${today}/`);
  const route = site.routeAt(newest);
  if (!route) return undefined;
  const body = `Version ${version} of this file is not here any more. The newest is at ${site.url}${newest}\n`;
  const headers = ["location", newest];
  return finalizeResponse(call, route, { status: 302, body, headers, caching: "public, max-age=300" });
}

/**
 * Answers a browser that opens a page under another host than that of `APP_URL`, where no form would work and no cookie
 * would arrive: 421 (RFC 9110 §15.5.20) with a link to the same page at the right host, and 308 to it if the other is the same
 * name with a dot at its end, as DNS writes it. `undefined` for other requests.
 */
function answerWrongHost(call: Call, route: Route): Answer | undefined {
  const { method, target, headers, site } = call;
  // A platform shows previews under hosts of its own.
  if (call.peer === undefined || !isPage(route)) return undefined;
  if (!readMethods.includes(method) || !headers.get("accept")?.includes("text/html")) return undefined;
  const right = new URL(site.url);
  const name = findForeign(headers, right);
  if (!name) return undefined;
  if (name === `${right.hostname}.`) return redirect(call, site.url + target);
  const link = `<a href="${escapeHtml(site.url + target)}">${escapeHtml(right.host)}</a>`;
  const shown = plainPage("This page has another address", `<p>Open it at ${link} instead.</p>`);
  return finalizeResponse(call, route, { status: 421, ...shown });
}

/** Leads to where a page is from now on (308, RFC 9110 §15.4.9). */
function redirect(call: Call, to: string): Answer {
  const location = to.replace(/[^!-~]/g, encodeURIComponent);
  return finalizeResponse(call, undefined, { status: 308, body: null, headers: ["location", location] });
}

/**
 * The name of the host, if the browser used another one. Proxies that replace `Host` must not make us refuse every page, so a
 * host that may be a proxy's name for us does not count: an address, a name without a dot, or any name behind a proxy that says
 * it is one (`Via`, RFC 9110 §7.6.3). A browser that comes from one of our pages is at the right host.
 */
function findForeign(headers: SentHeaders, right: URL): string | undefined {
  const [forwarded] = headers.get("x-forwarded-host")?.split(",") ?? []; // the first is the browser's
  if (isLoopback(right.hostname) || headers.get("referer")?.startsWith(`${right.origin}/`)) return undefined;
  if (!forwarded && headers.get("via")) return undefined;
  const host = `http://${forwarded ?? headers.get("host")}`;
  if (!URL.canParse(host)) return undefined;
  const { hostname } = new URL(host);
  const name = hostname.replace(/\.$/, "");
  const isForeign = hostname !== right.hostname && name.includes(".") && !isIP(name) && !isLoopback(name);
  return isForeign ? hostname : undefined;
}
