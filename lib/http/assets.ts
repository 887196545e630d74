import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import type { files } from "@/lib/http/register/files";

/** The address of a file of `public/`, with a version that changes with any of them, so that it is immutable. */
export function versioned({ path }: (typeof files)[keyof typeof files]): string {
  return `${path}?v=${assetsVersion()}`;
}

let version: string | undefined;

/** A hash of every file in `public/`. */
export function assetsVersion(): string {
  if (version) return version;
  const hash = createHash("sha256");
  for (const file of readdirSync("public").sort()) hash.update(file).update(readFileSync(`public/${file}`));
  version = hash.digest("base64url").slice(0, 12);
  return version;
}
