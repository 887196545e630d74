import { settings } from "@/lib/config/settings";
import type { Call, Site } from "@/lib/http/call";
import { ApiError, errorCatalogue } from "@/lib/http/errors";
import { isProgramPath } from "@/lib/http/program-path";
import { allRoutes } from "@/lib/http/register/all-routes";
import { isPage } from "@/lib/http/register/pages";
import { type Answer, type Explain, errorParts, finalizeResponse } from "@/lib/http/response";
import type { Route } from "@/lib/http/route";
import { refuseWrongHost } from "@/lib/http/wrong-host";

/** The methods that change nothing. */
export const readMethods = ["GET", "HEAD"];

/** The public site. A page says that there is nothing at an address that is none. */
export const publicSite: Site = {
  get url() {
    return settings().appUrl;
  },
  routeAt(path) {
    const route = allRoutes.get(path);
    return route && isEnabled(route) ? route : undefined;
  },
  isProxied: true,
  hasPageFor: ({ method, path }) => readMethods.includes(method) && !isProgramPath(path),
};

/** Whether a route is enabled: some depend on the kind of sign-in, on a setting, or on development mode. */
function isEnabled({ under, onlyInDevelopment, onlyWithRegistration }: Route): boolean {
  const { signIn, production, connectRegistration } = settings();
  if ((onlyInDevelopment && production) || (onlyWithRegistration && !connectRegistration)) return false;
  return !under || under.includes(signIn.kind);
}

/**
 * What a request gets in place of a handler's answer: 404 at an address that is none, 405 for a method that its address
 * lacks, 308 to the page without a slash at its end, 421 at another host. `undefined` if its route's handler answers it, or,
 * without a route, the page that says that there is nothing.
 *
 * @param explain - renders a refusal
 */
export function decide(call: Call, explain: Explain = errorParts): Answer | Promise<Answer> | undefined {
  const { route, site } = call;
  if (!route && !site.hasPageFor(call)) return refuse(call, notFound(call), explain);
  if (route && !accepts(route, call)) return refuse(call, methodNotAllowed(route), explain);
  return route ? refuseWrongHost(call, route) : redirectTrailingSlash(call);
}
