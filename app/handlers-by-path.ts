import type { Answering, RouteHandler } from "@/lib/http/handler";
import { GET as nothingHere } from "./(pages)/nothing-here/route";

/** Handlers by the paths of their routes. */
export function byPath(handlers: readonly RouteHandler[]): ReadonlyMap<string, RouteHandler> {
  return new Map(handlers.map((handler) => [handler.route.path, handler]));
}

/** What a folder with a dynamic segment does: each of its addresses has its own handler, any other is answered by the 404. */
export function answerEach(handlers: readonly RouteHandler[]): Answering {
  const known = byPath(handlers);
  return (call) => (known.get(call.route?.path ?? "") ?? nothingHere.answer)(call);
}
