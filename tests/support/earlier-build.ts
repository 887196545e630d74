import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";

/** The path of the migrations, and the path in older commits. */
const lists = ["lib/db/migrations.ts", "lib/store/migrations.ts"];
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
 * Returns `undefined` in a copy without git history.
 *
 * @param whole - also build the pages, which takes a minute; otherwise only the programs
 * @param commit - by default the commit before the newest migration
 */
export function buildEarlier({ whole = false, commit = findEarlier() } = {}): string | undefined {
  if (!commit) {
    process.stderr.write("LEFT OUT: what runs the build before, because this copy has no history\n");
    return undefined;
  }
  const folder = resolve("dist/earlier", `${commit.slice(0, 12)}${whole ? "-whole" : ""}`);
  if (existsSync(folder)) return folder;
  const draft = `${folder}-${process.pid}`;
  mkdirSync(draft, { recursive: true });
  const archive = execFileSync("git", ["archive", commit, "--", ...sources], { maxBuffer: 2 ** 28 });
  execFileSync("tar", ["-x", "-C", draft], { input: archive });
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

/**
 * The last commit with fewer migrations than today on the line that was built: the commits of a branch lack what was
 * merged next to it, and no store was ever in their state.
 */
function findEarlier(): string | undefined {
  const [list = ""] = lists;
  const today = countChanges(readFileSync(list, "utf8"));
  try {
    const commits = git("log", "--first-parent", "--format=%H", "--", ...lists)
      .trim()
      .split("\n");
    for (const commit of commits.map((one) => `${one}^`)) {
      const path = git("ls-tree", "--name-only", commit, "--", ...lists).trim();
      if (countChanges(git("show", `${commit}:${path}`)) < today) return git("rev-parse", commit).trim();
    }
  } catch {
    // No repository, no git, or the history is incomplete.
  }
  return undefined;
}

function git(...parameters: string[]): string {
  return execFileSync("git", parameters, { encoding: "utf8", stdio: "pipe" });
}

const countChanges = (source: string) => source.match(/^ {2}"\d{3}-[\w-]+": [[{]/gm)?.length ?? 0;
