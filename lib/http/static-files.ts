import { readFileSync } from "node:fs";
import { extname } from "node:path";
import { assetsVersion } from "@/lib/http/assets";
import { handleOperation, type RouteHandler } from "@/lib/http/handler";
import type { Route } from "@/lib/http/route";

const types: Record<string, string> = {
  ".css": "text/css; charset=UTF-8",
  ".ico": "image/x-icon",
  ".js": "text/javascript; charset=UTF-8",
  ".jpg": "image/jpeg",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".txt": "text/plain; charset=UTF-8",
  ".webmanifest": "application/manifest+json",
  ".woff2": "font/woff2",
};

/** The route handler of a file in `public/`, immutable if its name or query contains its version. */
export function fileHandler(file: Route): RouteHandler {
  const extension = extname(file.path);
  return handleOperation(file, {}, ({ search }) => ({
    status: 200,
    body: readFileSync(`public${file.path}`),
    mediaType: types[extension] ?? "application/octet-stream",
    caching:
      extension === ".woff2" || search === `?v=${assetsVersion()}`
        ? "public, max-age=31536000, immutable"
        : "public, no-cache",
  }));
}
