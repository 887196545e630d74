import { publicationHandlers } from "../handlers";

type Context = { params: Promise<{ path: string[] }> };

/** Every publication: `next.config.ts` rewrites their addresses to this route. */
export async function GET(request: Request, { params }: Context): Promise<Response> {
  const handler = publicationHandlers.get(`/${(await params).path.join("/")}`);
  return handler ? handler(request) : new Response("There is nothing here.\n", { status: 404 });
}
