import type { RouteHandler } from "@/lib/http/handler";
import { connectEndpoints } from "@/lib/http/pages";
import type { Route } from "@/lib/http/route";
import { connectEndpoint } from "@/lib/oauth/provider-bridge";
import { register } from "@/lib/oauth/registration";

const { registration, ...ofTheLibrary } = connectEndpoints;

const handlers = new Map<string, RouteHandler>([
  [registration.path, register(registration)],
  ...Object.values<Route>(ofTheLibrary).map((route) => [route.path, connectEndpoint(route)] as const),
]);

/** The endpoints of the authorization server. Their register says which methods each accepts. */
export async function GET(request: Request): Promise<Response> {
  const handler = handlers.get(new URL(request.url).pathname);
  return handler ? handler(request) : new Response("There is no such endpoint.\n", { status: 404 });
}

export { GET as OPTIONS, GET as POST };
