import type { RouteHandler } from "@/lib/http/handler";

/**
 * Creates the one route handler of several addresses: it hands a request to the handler of its path.
 *
 * @param register - the addresses, by the names of the handlers
 */
export function handlerByPath<Name extends string>(
  register: Record<Name, { path: string }>,
  handlers: Record<Name, RouteHandler>,
): RouteHandler {
  const names = Object.keys(handlers) as Name[];
  const byPath = new Map(names.map((name) => [register[name].path, handlers[name]]));
  return async (request) => {
    const handler = byPath.get(new URL(request.url).pathname);
    return handler ? handler(request) : new Response("There is nothing here.\n", { status: 404 });
  };
}
