import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";

/** Where the list of migrations is, and where it was before the tree was renamed. */
const lists = ["lib/db/migrations.ts", "lib/store/migrations.ts"];
/** Without its lock file, so that it takes its packages from the folders above it. */
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
 * Builds the program as it was before the newest change of the schema, from this repository's own history, in a folder
 * under `dist`; one that is there already stays. Its packages are those of today. `undefined` in a copy without history.
 *
 * @param whole - with its pages, which takes a minute; else its programs alone
 */
export function buildEarlier({ whole = false } = {}): string | undefined {
  const commit = findEarlier();
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
    rmSync(draft, { recursive: true }); // Somebody else was faster.
  }
  return folder;
}

/** The program that `npm start` runs in a checkout, from its root. */
export function startProgram(folder: string): string {
  const { scripts } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  return /dist\/\S+\.js/.exec(scripts.start)?.[0] ?? "";
}

/** The last commit whose list of changes is shorter than today's. */
function findEarlier(): string | undefined {
  const [list = ""] = lists;
  const today = countChanges(readFileSync(list, "utf8"));
  try {
    const commits = git("log", "--format=%H", "--", ...lists)
      .trim()
      .split("\n");
    for (const commit of commits.map((one) => `${one}^`)) {
      const path = git("ls-tree", "--name-only", commit, "--", ...lists).trim();
      if (countChanges(git("show", `${commit}:${path}`)) < today) return git("rev-parse", commit).trim();
    }
  } catch {
    // No repository, no git, or the history ends here.
  }
  return undefined;
}

function git(...parameters: string[]): string {
  return execFileSync("git", parameters, { encoding: "utf8", stdio: "pipe" });
}

const countChanges = (source: string) => source.match(/^ {2}"\d{3}-[\w-]+": \{/gm)?.length ?? 0;
