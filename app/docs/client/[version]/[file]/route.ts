import { dayMs } from "@/lib/config/durations";
import { readClient } from "@/lib/docs/client-files";
import { publish } from "@/lib/docs/publication-handler";
import { clientFiles } from "@/lib/http/pages";
import type { Route } from "@/lib/http/route";

const languages = Object.keys(clientFiles) as (keyof typeof clientFiles)[];

const handlers = new Map(languages.map(download));

/** A client file. Only those of the current version exist. */
export function GET(request: Request): Response | Promise<Response> {
  const handler = handlers.get(new URL(request.url).pathname as Route["path"]);
  return handler ? handler(request) : new Response("There is no such file.\n", { status: 404 });
}

/** Plain text, because no media type of these languages is registered. The file at a version's address never changes. */
function download(language: keyof typeof clientFiles) {
  const route: Route = clientFiles[language];
  const file = () => ({
    type: "text/plain; charset=utf-8",
    body: readClient(language),
    headers: { "Content-Disposition": `attachment; filename="${route.path.split("/").at(-1)}"` },
  });
  return [route.path, publish(route, file, { maxAgeSeconds: (365 * dayMs) / 1000 })] as const;
}
