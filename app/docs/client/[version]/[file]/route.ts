import { dayMs } from "@/lib/config/durations";
import { kotlinClient } from "@/lib/docs/clients/kotlin";
import { pythonClient } from "@/lib/docs/clients/python";
import { swiftClient } from "@/lib/docs/clients/swift";
import { typescriptClient } from "@/lib/docs/clients/typescript";
import { publish } from "@/lib/docs/publication-handler";
import { clientFiles } from "@/lib/http/pages";
import type { Route } from "@/lib/http/route";

const handlers = new Map([
  download(clientFiles.typescript, typescriptClient),
  download(clientFiles.python, pythonClient),
  download(clientFiles.swift, swiftClient),
  download(clientFiles.kotlin, kotlinClient),
]);

/** A client file. Only those of the current version exist. */
export function GET(request: Request): Response | Promise<Response> {
  const handler = handlers.get(new URL(request.url).pathname as Route["path"]);
  return handler ? handler(request) : new Response("There is no such file.\n", { status: 404 });
}

/** Plain text, because no media type of these languages is registered. The file at a version's address never changes. */
function download(route: Route, text: string) {
  const name = route.path.split("/").at(-1);
  const file = {
    type: "text/plain; charset=utf-8",
    body: text.trimStart(),
    headers: { "Content-Disposition": `attachment; filename="${name}"` },
  };
  return [route.path, publish(route, () => file, { maxAgeSeconds: (365 * dayMs) / 1000 })] as const;
}
