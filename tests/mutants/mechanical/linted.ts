import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import type { Site } from "@/tests/mutants/mechanical/sites";

type Report = { diagnostics: { location: { path: string; start: { line: number } } }[] };

/** The awaits without which the linter complains, in this folder, whose sources are afterwards as they were. */
export function findLinted(sites: Site[]): Set<Site> {
  const awaits = sites.filter(({ change }) => change.startsWith("not awaited"));
  const sources = new Map(awaits.map(({ file }) => [file, readFileSync(file, "utf8")]));
  for (const [file, source] of sources) {
    const lines = source.split("\n");
    for (const site of awaits)
      if (site.file === file) lines[site.line - 1] = lines[site.line - 1]?.replace(/\bawait /, "") ?? "";
    writeFileSync(file, lines.join("\n"));
  }
  const options = ["--max-diagnostics=none", "--reporter=json", "--vcs-enabled=false"];
  const { stdout } = spawnSync("npx", ["biome", "lint", ...options, "lib", "app"], {
    encoding: "utf8",
    maxBuffer: 2 ** 28,
  });
  for (const [file, source] of sources) writeFileSync(file, source);
  const { diagnostics }: Report = JSON.parse(stdout);
  const complained = new Set(diagnostics.map(({ location: { path, start } }) => `${path}:${start.line}`));
  return new Set(awaits.filter(({ file, line }) => complained.has(`${file}:${line}`)));
}
