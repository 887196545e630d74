import type { RouteHandler } from "@/lib/http/handler";
import { toPlatform } from "@/lib/http/platform";
import { GET as nothingHere } from "./(pages)/nothing-here/route";

/** Handlers by the paths of their routes. */
export function byPath(handlers: readonly RouteHandler[]): ReadonlyMap<string, RouteHandler> {
  return new Map(handlers.map((handler) => [handler.route.path, handler]));
}

/** What a folder with a dynamic segment exports: each of its addresses has its own handler, any other is answered by the 404. */
export function answerEach(handlers: readonly RouteHandler[]) {
  const known = byPath(handlers);
  return toPlatform((call) => (known.get(call.route?.path ?? "") ?? nothingHere.answer)(call));
}
