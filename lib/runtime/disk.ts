import { statSync } from "node:fs";
import { statfs } from "node:fs/promises";

/** The disk of a folder: what this user may still write, and all of it. */
export async function measureDisk(folder: string): Promise<{ freeBytes: number; allBytes: number }> {
  const { bavail, blocks, bsize } = await statfs(folder);
  return { freeBytes: bavail * bsize, allBytes: blocks * bsize };
}

/** The bytes of a file; 0 if there is none. */
export function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
