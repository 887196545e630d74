import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

/** The names of the files in `public/`. */
export const listFiles = () => readdirSync("public");

/** The folder of the compressed files: each at its address, with `.br` or `.gz` appended. */
export const compressedFolder = "dist/compressed";

const isText = /\.(?:css|ico|js|json|map|svg|txt)$/;

/** Compresses every text file at the highest level. A step of the build. */
export function compressFiles(): void {
  rmSync(compressedFolder, { recursive: true, force: true });
  mkdirSync(compressedFolder, { recursive: true });
  for (const name of listFiles().filter((name) => isText.test(name))) {
    const content = readFileSync(join("public", name));
    const target = join(compressedFolder, name);
    writeFileSync(`${target}.br`, brotliCompressSync(content));
    writeFileSync(`${target}.gz`, gzipSync(content, { level: constants.Z_BEST_COMPRESSION }));
  }
}
