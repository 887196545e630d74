import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";

/** The commit of the release before, which the newest section of RELEASES.md names. */
export const releaseBefore = /^- The release before: `([0-9a-f]{40})`/m.exec(
  readFileSync("lib/server/RELEASES.md", "utf8"),
)?.[1] as string;

/** Without the lock file, so that packages are resolved from the folders above. */
const sources = [
  "app",
  "lib",
  "public",
  "middleware.ts",
  "LICENSE",
  "next.config.ts",
  "tsconfig.json",
  "package.json",
];

/**
 * Builds the program of an earlier commit in a folder under `dist`, unless it is there already, with today's packages.
 * Returns `undefined` in a copy without that commit.
 *
 * @param whole - also build the pages, which takes a minute; otherwise only the programs
 */
export function buildEarlier({ whole = false, commit = releaseBefore } = {}): string | undefined {
  const folder = resolve("dist/earlier", `${commit.slice(0, 12)}${whole ? "-whole" : ""}`);
  if (existsSync(folder)) return folder;
  const archive = spawnSync("git", ["archive", commit, "--", ...sources], { maxBuffer: 2 ** 28 });
  if (archive.status !== 0) {
    process.stderr.write(
      `LEFT OUT: what runs the release before, because this copy does not have ${commit}\n`,
    );
    return undefined;
  }
  const draft = `${folder}-${process.pid}`;
  mkdirSync(draft, { recursive: true });
  execFileSync("tar", ["-x", "-C", draft], { input: archive.stdout });
  execFileSync("npm", ["run", "-s", whole ? "build" : "bundle:programs"], { cwd: draft, stdio: "pipe" });
  try {
    renameSync(draft, folder);
  } catch {
    rmSync(draft, { recursive: true }); // Another process finished the same build first.
  }
  return folder;
}

/** The program that `npm start` runs in a checkout, relative to its root. */
export function startProgram(folder: string): string {
  const { scripts } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  return /dist\/\S+\.js/.exec(scripts.start)?.[0] ?? "";
}
