import { settings } from "@/lib/config/settings";
import { ApiError, errorCatalogue } from "@/lib/http/errors";
import { allRoutes } from "@/lib/http/register/all-routes";
import { isPage, type Page } from "@/lib/http/register/pages";
import { createRequestContext } from "@/lib/http/request-context";
import { type Answer, errorParts, finalizeResponse } from "@/lib/http/response";
import type { Route } from "@/lib/http/route";

/** The route at this path, if it is enabled. */
export function routeAt(path: string): Route | undefined {
  const route = allRoutes.get(path);
  return route && isEnabled(route) ? route : undefined;
}

/** The page at exactly this path, if it is enabled. */
export function pageAt(path: string): Page | undefined {
  const route = routeAt(path);
  return route && isPage(route) ? route : undefined;
}

/** Whether a route is enabled: some depend on the kind of sign-in, on a setting, or on development mode. */
export function isEnabled({ under, onlyInDevelopment, onlyWithRegistration }: Route): boolean {
  const { signIn, production, connectRegistration } = settings();
  if ((onlyInDevelopment && production) || (onlyWithRegistration && !connectRegistration)) return false;
  return !under || under.includes(signIn.kind);
}

/** The methods that change nothing. */
export const readMethods = ["GET", "HEAD"];

/** Refuses, in JSON, a request that has not reached the handler of its path. */
export function refuse(method: string, path: string, headers: Pick<Headers, "get">, error: ApiError): Answer {
  const route = routeAt(path);
  const context = createRequestContext(method, path, headers);
  return finalizeResponse(route?.site && route, context, errorParts(error));
}

/**
 * The 405 of a route, with the methods that it accepts (RFC 9110 §15.5.6), and its page for people. It does not repeat the
 * query, which may have a token.
 */
export function methodNotAllowed({ methods, forPeople }: Route): ApiError {
  const headers = { allow: methods.join(", ") };
  if (!forPeople) return new ApiError("method_not_allowed", { headers });
  const hint = `${errorCatalogue.method_not_allowed.hint} A person opens ${settings().appUrl}${forPeople} instead, with the same query.`;
  return new ApiError("method_not_allowed", { headers, hint });
}

/**
 * Redirects from a page's path with a trailing slash to the page (308, RFC 9110 §15.4.9). `undefined` for other paths.
 *
 * @param query - as sent, with its question mark
 */
export function redirectTrailingSlash(
  method: string,
  path: string,
  query: string,
  headers: Pick<Headers, "get">,
): Answer | undefined {
  if (!path.endsWith("/") || path === "//" || !readMethods.includes(method)) return undefined;
  const page = pageAt(path.slice(0, -1));
  if (!page) return undefined;
  const location = page.path + query.replace(/[^!-~]/g, encodeURIComponent);
  const parts = { status: 308, body: null, headers: ["location", location] };
  return finalizeResponse(undefined, createRequestContext(method, path, headers), parts);
}
