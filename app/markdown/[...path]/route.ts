import { portableMarkdown } from "@/lib/docs/document";
import { findDocument } from "@/lib/docs/documents";
import { publish } from "@/lib/docs/publish";
import { settings } from "@/lib/settings/settings";

type Context = { params: Promise<{ path: string[] }> };

/** A document in Markdown: `next.config.ts` sends `<its path>.md` here. */
export async function GET(request: Request, { params }: Context): Promise<Response> {
  const path = `/${(await params).path.join("/")}`;
  const { appUrl } = settings();
  const document = findDocument(path);
  if (!document) return new Response("There is no such document.\n", { status: 404 });
  return publish(request, {
    type: "text/markdown; charset=utf-8",
    body: portableMarkdown(document, appUrl),
    headers: { Link: `<${appUrl}${path}>; rel="canonical"; type="text/html"` },
  });
}
