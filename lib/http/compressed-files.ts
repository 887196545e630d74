import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { buildFiles, nextPaths } from "@/lib/config/next-internals";

/** The folders of static files, by the start of their address. */
export const fileFolders = { "/": "public", [`${nextPaths.assets}static/`]: buildFiles.assets };

/** The folder of the compressed files: each at its address, with `.br` or `.gz` appended. */
export const compressedFolder = "dist/compressed";

const isText = /\.(?:css|ico|js|json|map|svg|txt)$/;

/** Compresses every text file at the highest level. A step of the build. */
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
