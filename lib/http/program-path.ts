import { ApiError } from "@/lib/http/errors";
import { methodNotAllowed, readMethods, routeAt } from "@/lib/http/router";

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
  if (readMethods.includes(method) && !isProgramPath(path)) return undefined;
  // A page of another site can only go on to the next address if it can read that this one is not there.
  const headers = path.startsWith("/.well-known/") ? { "access-control-allow-origin": "*" } : {};
  return new ApiError("not_found", { headers });
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
