import { settings } from "@/lib/config/settings";
import { ApiError } from "@/lib/http/errors";
import { mcpServer, operations } from "@/lib/http/operations";
import { isPage, type Page, routes } from "@/lib/http/pages";
import { createRequestContext } from "@/lib/http/request-context";
import { type Answer, errorParts, finalizeResponse } from "@/lib/http/response";
import type { Route } from "@/lib/http/route";

const byPath = <R extends Route>(all: readonly R[]) =>
  new Map<string, R>(all.map((route) => [route.path, route]));

const apiRoutes = byPath<Route>([
  ...Object.values(operations),
  ...mcpServer.paths.map((path) => ({ ...mcpServer, path })),
]);

/** The operation or MCP endpoint at exactly this path. */
export function apiRouteAt(path: string): Route | undefined {
  return apiRoutes.get(path);
}

const otherRoutes = byPath(routes);

/** The route at exactly this path outside `/api` and `/mcp`, if it is enabled. */
export function routeAt(path: string): Route | undefined {
  const route = otherRoutes.get(path);
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
 * Rejects an unknown address (404). `undefined` for a GET of an unknown page, which gets a page that says so.
 *
 * @param path - as sent, without its query
 */
export function rejectUnknown(
  method: string,
  path: string,
  headers: Pick<Headers, "get">,
): Answer | undefined {
  if (apiRouteAt(path) ?? routeAt(path)) return undefined;
  if (readMethods.includes(method) && !isProgramPath(path)) return undefined;
  const context = createRequestContext(method, path, headers);
  return finalizeResponse(undefined, context, errorParts(new ApiError("not_found")));
}

/** Rejects what Next would answer by itself: an unknown address (404), and a method that an address lacks (405). */
export function rejectUnrouted(
  method: string,
  path: string,
  headers: Pick<Headers, "get">,
): Answer | undefined {
  const route = apiRouteAt(path) ?? routeAt(path);
  const methods: readonly string[] | undefined = route?.methods;
  if (!route || methods?.includes(method)) return rejectUnknown(method, path, headers);
  const context = createRequestContext(method, path, headers);
  return finalizeResponse(apiRouteAt(path), context, errorParts(methodNotAllowed(route)));
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
  return underApi.test(plain) || underApi.test(withoutDotSegments(plain));
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

function withoutDotSegments(path: string): string {
  const kept: string[] = [];
  for (const segment of path.split("/")) {
    if (segment === "..") kept.pop();
    else if (segment !== "." && segment !== "") kept.push(segment);
  }
  return `/${kept.join("/")}`;
}
