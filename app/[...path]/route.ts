import { rejectUnrouted } from "@/lib/http/not-found";
import { pages } from "@/lib/http/register/pages";
import { toResponse } from "@/lib/http/response";
import { refuse, routeAt } from "@/lib/http/router";
import { handlerAt } from "../routes";

/** What has no folder of its own in `app/`: publications, documents, and the steps of sign-in, apps and owners. */
async function answer(request: Request): Promise<Response> {
  const { pathname } = new URL(request.url);
  // Middleware does not see every spelling that Next leads here.
  const refused = rejectUnrouted(request.method, pathname);
  if (refused) return toResponse(refuse(request.method, pathname, request.headers, refused));
  return handlerAt(routeAt(pathname) ? pathname : pages.nothingHere.path)(request);
}

export { answer as GET, answer as OPTIONS, answer as POST };
