import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, globSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { copyTree } from "@/tests/mutants/copy";
import { equivalents } from "@/tests/mutants/mechanical/equivalents";
import { findLinted } from "@/tests/mutants/mechanical/linted";
import { type Site, switchMistakes } from "@/tests/mutants/mechanical/sites";
import { measureReach, type Reach, Trials } from "@/tests/mutants/mechanical/tests";

/*
 * The mistakes that a machine makes: `npm run mutants -- --mechanical`. One build has all of them, each with a switch.
 */

/** How long the tests of one mistake take together at most, one after the other. */
const trialMs = 120_000;

/**
 * Makes the chosen mistakes, four at a time, and prints which tests notice them. Returns how many live.
 *
 * @param words - `--sample` a number of those that contain another word, drawn by `--seed`; `--tests`, the only test file
 */
export async function makeMechanicalMistakes(words: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args: words,
    allowPositionals: true,
    options: {
      mechanical: { type: "boolean" },
      sample: { type: "string" },
      seed: { type: "string", default: "1" },
      tests: { type: "string", multiple: true },
    },
  });
  const kept = resolve("dist", "mutants", "reach.json");
  const modules = join(process.cwd(), "node_modules");
  const copy = copyTree();
  process.chdir(copy);
  // One path for Vitest, whose workers must load the same one as this process.
  rmSync("node_modules", { recursive: true });
  symlinkSync(modules, "node_modules");
  const { sites, linted } = plant();
  execFileSync("npm", ["run", "-s", "bundle:programs"], { stdio: "inherit" });
  const chosen = choose(sites, positionals, Number(values.sample ?? 0), Number(values.seed));
  process.stdout.write(`${chosen.length} of ${sites.length} mistakes\n`);
  const reach = values.tests ? await measureReach(values.tests) : await readReach(kept, sites);
  const lived: Site[] = [];
  let equivalent = 0;
  const left = [...chosen];
  async function tryAll(trials: Trials): Promise<void> {
    for (let site = left.shift(); site; site = left.shift()) await tryOne(site, trials);
    await trials.close();
  }
  async function tryOne(site: Site, trials: Trials): Promise<void> {
    const reason = equivalents[`${site.file}: ${site.change}`];
    const files = testsOf(sites.indexOf(site), site, sites, reach);
    const isTried = !reason && !linted.has(site) && files.length > 0;
    const noticedBy = linted.has(site)
      ? "npm run check"
      : isTried && (await trials.notice(sites.indexOf(site), site, files));
    if (reason) equivalent++;
    else if (!noticedBy) lived.push(site);
    const word = reason ? "the same" : noticedBy ? "noticed" : "LIVES";
    const why =
      reason ?? noticedBy ?? (files.length > 0 ? `${files.length} test files` : "no test reaches it");
    process.stdout.write(`${word.padEnd(8)}  ${site.file}:${site.line}  ${site.change}  (${why})\n`);
  }
  const lanes: Trials[] = [];
  for (let lane = 0; lane < 4; lane++) lanes.push(await Trials.open());
  await Promise.all(lanes.map(tryAll));
  const others = Math.max(chosen.length - equivalent, 1);
  process.stdout.write(
    `\n${lived.length} of ${others} live (${((100 * lived.length) / others).toFixed(1)} %), and ${equivalent} change nothing\n`,
  );
  return lived.length;
}

/** Switches the mistakes in every source of the built programs. `linted` are those that need no test. */
function plant(): { sites: Site[]; linted: Set<Site> } {
  const sources = globSync("dist/{server,demo,admin,chunks}/**/*.map").flatMap((map) =>
    (JSON.parse(readFileSync(map, "utf8")).sources as string[]).map((source) =>
      decodeURI(source).replace(/^(\.\.\/)+/, ""),
    ),
  );
  const sites: Site[] = [];
  const texts = new Map<string, string>();
  for (const file of [...new Set(sources)].sort()) {
    if (!/^(lib|app)\//.test(file)) continue;
    const switched = switchMistakes(file, readFileSync(file, "utf8"), sites.length);
    sites.push(...switched.sites);
    texts.set(file, switched.text);
  }
  const linted = findLinted(sites);
  for (const [file, text] of texts) writeFileSync(file, text);
  return { sites, linted };
}

/** What every test file reaches: measured once for the same mistakes, as it takes as long as `npm test`. */
async function readReach(kept: string, sites: Site[]): Promise<Reach[]> {
  const of = createHash("sha256").update(JSON.stringify(sites)).digest("hex");
  const last: { of: string; reach: Reach[] } | undefined = existsSync(kept)
    ? JSON.parse(readFileSync(kept, "utf8"))
    : undefined;
  if (last?.of === of) return last.reach;
  const reach = await measureReach();
  writeFileSync(kept, JSON.stringify({ of, reach }));
  return reach;
}

/** Those whose line contains one of the words, or all; of them a sample that a seed draws. */
function choose(sites: Site[], words: string[], sample: number, seed: number): Site[] {
  const named = sites.filter(
    ({ file, line, change }) =>
      words.length === 0 || words.some((word) => `${file}:${line} ${change}`.includes(word)),
  );
  if (sample === 0) return named;
  const random = draw(seed);
  const left = [...named];
  return Array.from({ length: Math.min(sample, left.length) }, () =>
    left.splice(Math.floor(random() * left.length), 1),
  ).flat();
}

/** Numbers from 0 to 1 that follow from a seed (mulberry32). */
function draw(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The test files that reach a mistake: those that reach most of its source file first, then the quickest. */
function testsOf(id: number, { file }: Site, sites: Site[], reach: Reach[]): string[] {
  const ofFile = ({ reached }: Reach) => reached.filter((other) => sites[other]?.file === file).length;
  const reaching = reach
    .filter(({ reached }) => reached.includes(id))
    .map((test) => ({ ...test, near: ofFile(test) }))
    .sort((a, b) => b.near - a.near || a.ms - b.ms);
  let ms = 0;
  return reaching
    .filter((test, at) => {
      ms += test.ms;
      return at === 0 || ms < trialMs;
    })
    .map(({ file }) => file);
}
