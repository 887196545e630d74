import { type DocumentPage, publishedMarkdown } from "@/lib/docs/document";
import { documents } from "@/lib/docs/documents";
import { publish } from "@/lib/docs/publication-handler";
import { markdownPath } from "@/lib/http/pages";

type Context = { params: Promise<{ path: string[] }> };

const handlers = new Map(documents.map((document) => [document.path as string, publishMarkdown(document)]));

/** A document as Markdown: `next.config.ts` rewrites `<its path>.md` to this route. */
export async function GET(request: Request, { params }: Context): Promise<Response> {
  const handler = handlers.get(`/${(await params).path.join("/")}`);
  return handler ? handler(request) : new Response("There is no such document.\n", { status: 404 });
}

function publishMarkdown(document: DocumentPage) {
  const route = { path: markdownPath(document.path), methods: ["GET", "HEAD"], isShared: true } as const;
  return publish(route, () => publishedMarkdown(document));
}
