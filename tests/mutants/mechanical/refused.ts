import { spawnSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeMistake, type Site } from "@/tests/mutants/mechanical/sites";

type Report = { diagnostics: { location: { path: string } }[] };

/** Which of this folder's files have an error. */
const tools = {
  tsc(folder: string): string[] {
    const told = run(folder, "tsc", "--noEmit", "--incremental", "false", "--pretty", "false");
    return Array.from(told.matchAll(/^(.+?)\(\d+,\d+\): error /gm), ([, path = ""]) => path);
  },
  biome(folder: string): string[] {
    const options = [
      "--max-diagnostics=none",
      "--diagnostic-level=error",
      "--reporter=json",
      "--vcs-enabled=false",
    ];
    const { diagnostics }: Report = JSON.parse(run(folder, "biome", "lint", ...options, "lib", "app"));
    return diagnostics.map(({ location: { path } }) => path);
  },
};

const run = (cwd: string, ...words: string[]) =>
  spawnSync("npx", words, { cwd, encoding: "utf8", maxBuffer: 2 ** 28 }).stdout;

/**
 * The mistakes that nobody could commit, and which tool refuses them. Each is a file beside its source, so that the compiler
 * and the linter run once for all. So is the source without a mistake: if that is refused too, it says nothing.
 */
export function findRefused(folder: string, sites: Site[]): Map<Site, string> {
  const beside = ({ file }: Site, name: string | number) => file.replace(/(?=\.tsx?$)/, `.${name}`);
  const written = new Set<string>();
  function write(path: string, text: string): void {
    writeFileSync(join(folder, path), text);
    written.add(path);
  }
  for (const [number, site] of sites.entries()) {
    const source = readFileSync(join(folder, site.file), "utf8");
    write(beside(site, "right"), source);
    write(beside(site, number), makeMistake(source, site));
  }
  const refused = new Map<Site, string>();
  for (const [name, listFaulty] of Object.entries(tools)) {
    const faulty = new Set(listFaulty(folder));
    for (const [number, site] of sites.entries())
      if (faulty.has(beside(site, number)) && !faulty.has(beside(site, "right")) && !refused.has(site))
        refused.set(site, `refused by ${name}`);
  }
  for (const path of written) rmSync(join(folder, path));
  return refused;
}
