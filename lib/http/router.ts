import { settings } from "@/lib/config/settings";
import { ApiError } from "@/lib/http/errors";
import { mcpServer, operations } from "@/lib/http/operations";
import { hooks, type Page, pages, routes } from "@/lib/http/pages";
import { createRequestContext } from "@/lib/http/request-context";
import { errorParts, finalizeResponse } from "@/lib/http/response";
import type { Route } from "@/lib/http/route";

const byPath = new Map<string, Route>();
for (const operation of Object.values(operations)) byPath.set(operation.path, operation);
for (const path of mcpServer.paths) byPath.set(path, { ...mcpServer, path });

/** The operation or MCP endpoint at exactly this path. */
export function apiRouteAt(path: string): Route | undefined {
  return byPath.get(path);
}

const routesByPath = new Map(routes.map((route) => [route.path as string, route]));

/** The route at exactly this path outside `/api` and `/mcp`, if it is enabled. */
export function routeAt(path: string): Route | undefined {
  const route = routesByPath.get(path);
  return route && isEnabled(route) ? route : undefined;
}

const pagesByPath = new Map(Object.values<Page>(pages).map((page) => [page.path as string, page]));

/** The page at exactly this path, if it is enabled. */
export function pageAt(path: string): Page | undefined {
  const page = pagesByPath.get(path);
  return page && isEnabled(page) ? page : undefined;
}

/** Whether a route is enabled: some depend on the kind of sign-in, on a setting, or on development mode. */
export function isEnabled({ under, onlyInDevelopment, onlyWithRegistration }: Route): boolean {
  const { signIn, production, connectRegistration } = settings();
  if ((onlyInDevelopment && production) || (onlyWithRegistration && !connectRegistration)) return false;
  return !under || under.includes(signIn.kind);
}

const hookPaths = new Set<string>(Object.values(hooks).map(({ path }) => path));

/** Whether a path is a provider's webhook. */
export function isWebhookPath(path: string): boolean {
  return hookPaths.has(path);
}

const readMethods = ["GET", "HEAD"];

/** The methods accepted at a path; `undefined` if the path is unknown. */
function methodsAt(path: string): readonly string[] | undefined {
  return (apiRouteAt(path) ?? routeAt(path))?.methods;
}

/**
 * Rejects an unknown address (404) and a method that the address does not accept (405). Returns `undefined` if the
 * request may continue. So may a GET of an unknown page, which gets a page that says so.
 *
 * @param path - as sent, without its query
 */
export function rejectUnrouted(
  method: string,
  path: string,
  headers: Pick<Headers, "get">,
): Response | undefined {
  const methods = methodsAt(path);
  if (methods?.includes(method)) return undefined;
  if (!methods && readMethods.includes(method) && !isProgramPath(path)) return undefined;
  const error = methods
    ? new ApiError("method_not_allowed", { headers: { allow: methods.join(", ") } })
    : new ApiError("not_found");
  return finalizeResponse(apiRouteAt(path), createRequestContext(method, path, headers), errorParts(error));
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
): Response | undefined {
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
