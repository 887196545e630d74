import { existsSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { assetsVersion } from "@/lib/http/assets";
import { compressedFolder, listFiles } from "@/lib/http/compressed-files";
import { headersAt } from "@/lib/http/page-headers";
import { files } from "@/lib/http/pages";
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
  private readonly files = new Map<string, string>();
  /** By `Cache-Control` and path. */
  private readonly kept = {
    [immutable]: new Map<string, CachedResponse>(),
    [revalidate]: new Map<string, CachedResponse>(),
  };

  constructor() {
    for (const name of listFiles()) this.files.set(`/${name}`, join("public", name));
  }

  /** The file at this path, immutable if its name or query contains its version; `undefined` if there is none. */
  find(path: string, query: string): CachedResponse | undefined {
    const file = this.files.get(path);
    if (!file) return undefined;
    const caching = path === files.serif.path || query === `v=${assetsVersion()}` ? immutable : revalidate;
    let kept = this.kept[caching].get(path);
    if (!kept) {
      kept = read(path, file, caching);
      this.kept[caching].set(path, kept);
    }
    return kept;
  }
}

function read(path: string, file: string, caching: string): CachedResponse {
  const type = types[extname(file)] ?? "application/octet-stream";
  const fields = [...headersAt(path), "content-type", type, "cache-control", caching];
  const encoded = Object.fromEntries(
    Object.entries({ br: ".br", gzip: ".gz" })
      .map(([encoding, ending]) => [encoding, join(compressedFolder, path + ending)] as const)
      .filter(([, compressed]) => existsSync(compressed))
      .map(([encoding, compressed]) => [encoding, readFileSync(compressed)]),
  );
  return new CachedResponse(200, fields, readFileSync(file), encoded);
}
