import { readdirSync, readFileSync } from "node:fs";
import { extname } from "node:path";
import { assetsVersion } from "@/lib/http/assets";
import { defaultHeaders } from "@/lib/http/default-headers";
import { files } from "@/lib/http/pages";
import { routeAt } from "@/lib/http/router";
import { CachedResponse } from "@/lib/server/cached-response";

const types: Record<string, string> = {
  ".css": "text/css; charset=UTF-8",
  ".ico": "image/x-icon",
  ".js": "text/javascript; charset=UTF-8",
  ".json": "application/json",
  ".map": "application/json",
  ".jpg": "image/jpeg",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".txt": "text/plain; charset=UTF-8",
  ".woff2": "font/woff2",
};

const immutable = "public, max-age=31536000, immutable";
const revalidate = "public, no-cache";

/** The files of the build, each kept in memory after its first request. */
export class FileCache {
  private readonly names = new Set(readdirSync("public"));
  /** By `Cache-Control` and path. */
  private readonly kept = new Map<string, CachedResponse>();

  /** The file at this path, immutable if its name or query contains its version; `undefined` if there is none. */
  find(path: string, query: string): CachedResponse | undefined {
    if (!this.names.has(path.slice(1))) return undefined;
    const caching = path === files.serif.path || query === `v=${assetsVersion()}` ? immutable : revalidate;
    const key = `${caching} ${path}`;
    const kept = this.kept.get(key) ?? read(path, caching);
    this.kept.set(key, kept);
    return kept;
  }
}

function read(path: string, caching: string): CachedResponse {
  const type = types[extname(path)] ?? "application/octet-stream";
  const fields = [...defaultHeaders(routeAt(path)), "content-type", type, "cache-control", caching];
  return new CachedResponse(200, fields, readFileSync(`public${path}`));
}
