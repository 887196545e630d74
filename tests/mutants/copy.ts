import { execFileSync } from "node:child_process";
import { copyFileSync, cpSync, existsSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { createFolder } from "@/tests/support/leash";

/** Copies the working tree and the build into a folder of its own, so that files can be changed. */
export function copyTree(): string {
  const folder = createFolder("process");
  const files = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"])
    .toString()
    .trim();
  for (const file of files.split("\n")) {
    mkdirSync(join(folder, dirname(file)), { recursive: true });
    if (existsSync(file)) copyFileSync(file, join(folder, file));
  }
  // Hard links if possible: Next's compiler follows no symbolic link out of the folder it builds.
  const copyModules = 'cp -al node_modules "$1" 2>/dev/null || cp -a node_modules "$1"';
  execFileSync("sh", ["-c", copyModules, "sh", folder]);
  for (const built of [".next", "dist", "public"])
    if (existsSync(built)) cpSync(built, join(folder, built), { recursive: true });
  return folder;
}
