import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { buildFiles, nextPaths } from "@/lib/config/next-internals";

/** Where files are, by the address that they begin with. */
export const fileFolders = { "/": "public", [`${nextPaths.assets}static/`]: buildFiles.assets };

/** Where they are in brotli and gzip: at their address, and `.br` or `.gz`. */
export const compressedFolder = "dist/compressed";

const isText = /\.(?:css|ico|js|json|map|svg|txt)$/;

/** Compresses every file that gains by it, as well as it goes: a step of the build. */
export function compressFiles(): void {
  rmSync(compressedFolder, { recursive: true, force: true });
  for (const [address, folder] of Object.entries(fileFolders)) {
    for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
      const file = join(folder, name);
      if (!isText.test(name) || !statSync(file).isFile()) continue;
      const content = readFileSync(file);
      const target = join(compressedFolder, address, name);
      mkdirSync(dirname(target), { recursive: true });
      writeFileSync(`${target}.br`, brotliCompressSync(content));
      writeFileSync(`${target}.gz`, gzipSync(content, { level: constants.Z_BEST_COMPRESSION }));
    }
  }
}
