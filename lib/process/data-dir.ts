import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * The text kept in a file of the data folder, made at first asking and the same ever after.
 *
 * Folder 0700, file 0600. Processes that ask at the same moment get the same text: `link` creates the
 * finished file or fails, so nobody reads half of one. Throws the file system's error.
 */
export function keepInDataDir(dataDir: string, name: string, make: () => string): string {
  const file = join(dataDir, name);
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, make(), { mode: 0o600 });
  try {
    linkSync(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    rmSync(draft);
  }
  return readFileSync(file, "utf8");
}
