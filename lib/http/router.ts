import { settings } from "@/lib/config/settings";
import { ApiError } from "@/lib/http/errors";
import { allRoutes } from "@/lib/http/operations";
import { isPage, type Page } from "@/lib/http/pages";
import { createRequestContext } from "@/lib/http/request-context";
import { type Answer, errorParts, finalizeResponse } from "@/lib/http/response";
import type { Route } from "@/lib/http/route";

/** The route at exactly this path, if it is enabled. */
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

const readMethods = ["GET", "HEAD"];

/**
 * Rejects an unknown address (404), and a method that an address lacks (405). `undefined` for a GET of an unknown page,
 * which gets a page that says so.
 *
 * @param path - as sent, without its query
 */
export function rejectUnrouted(method: string, path: string): ApiError | undefined {
  const route = routeAt(path);
  const methods: readonly string[] | undefined = route?.methods;
  if (methods?.includes(method)) return undefined;
  if (route) return methodNotAllowed(route);
  return readMethods.includes(method) && !isProgramPath(path) ? undefined : new ApiError("not_found");
}

/** Refuses, in JSON, a request that has not reached the handler of its path. */
export function refuse(method: string, path: string, headers: Pick<Headers, "get">, error: ApiError): Answer {
  const route = routeAt(path);
  const context = createRequestContext(method, path, headers);
  return finalizeResponse(route?.site && route, context, errorParts(error));
}

/** The 405 of a route, with the methods that it accepts (RFC 9110 §15.5.6). */
export function methodNotAllowed({ methods }: Route): ApiError {
  return new ApiError("method_not_allowed", { headers: { allow: methods.join(", ") } });
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

/** Whether a path is for programs, whose 404 is JSON. MCP clients probe for an authorization server, for example. */
function isProgramPath(path: string): boolean {
  return isUnderApi(path) || path === "/register" || /^\/(?:\.well-known|oauth)\//.test(path);
}

/** Whether a path is under `/api` or `/mcp` in any spelling: case, doubled slashes, backslashes, dots, encodings. */
export function isUnderApi(path: string): boolean {
  const plain = decodeFully(path)
    .replace(/[\\/]+/g, "/")
    .toLowerCase();
  const withoutDots = URL.parse(plain.replace(/[?#]/g, "-"), "http://localhost")?.pathname ?? "";
  return underApi.test(plain) || underApi.test(withoutDots);
}

const underApi = /^\/(?:api|mcp)(?![\w-])/;

/** Decodes percent-encoding repeatedly, as some servers do: `%2561` is `%61` is `a`. */
function decodeFully(path: string): string {
  let decoded = path;
  for (let pass = 0; pass < 4 && decoded.includes("%"); pass++) {
    decoded = decoded.replace(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  }
  return decoded;
}
