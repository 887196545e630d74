import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { files } from "@/lib/api/pages";

/**
 * The address of a file of `public/` that changes when any of them does, so that browsers may keep it for good.
 * The version is the build's: `next.config.ts` puts it in.
 */
export function versioned({ path }: (typeof files)[keyof typeof files]): string {
  return `${path}?v=${process.env.ASSETS_VERSION}`;
}

/** Names the contents of a folder: another byte in any of its files, another version. */
export function versionOf(folder: string): string {
  const hash = createHash("sha256");
  for (const file of readdirSync(folder).sort()) hash.update(file).update(readFileSync(join(folder, file)));
  return hash.digest("base64url").slice(0, 12);
}
