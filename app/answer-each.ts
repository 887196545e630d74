import type { RouteHandler } from "@/lib/http/handler";
import type { PlatformHandler } from "@/lib/http/platform";
import { GET as nothingHere } from "./(pages)/nothing-here/route";

/** Handlers by the paths that they answer. */
export type Handlers = ReadonlyMap<string, RouteHandler>;

/** Handlers by the paths of the entries of a register, which have the same names. */
export function byPath<Name extends string>(
  register: Record<Name, { path: string }>,
  handlers: Record<Name, RouteHandler | PlatformHandler>,
): Handlers {
  const rows = Object.entries<RouteHandler | PlatformHandler>(handlers);
  return new Map(
    rows.map(([name, handler]) => [
      register[name as Name].path,
      "answer" in handler ? handler.answer : handler,
    ]),
  );
}

/** The handler of a folder with a dynamic segment: of each of its addresses by its own, of any other by the 404. */
export function answerEach(handlers: Handlers): RouteHandler {
  return (call) => (handlers.get(call.route?.path ?? "") ?? nothingHere.answer)(call);
}
