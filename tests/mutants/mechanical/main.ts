import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, globSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { copyTree } from "@/tests/mutants/copy";
import { equivalents } from "@/tests/mutants/mechanical/equivalents";
import { findRefused } from "@/tests/mutants/mechanical/refused";
import { type Site, switchMistakes } from "@/tests/mutants/mechanical/sites";
import { isOfPostgres, measureReach, type Reach, Trials } from "@/tests/mutants/mechanical/tests";

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
  const { sites, texts } = findMistakes();
  const chosen = choose(sites, positionals, Number(values.sample ?? 0), Number(values.seed));
  process.stdout.write(`${chosen.length} of ${sites.length} mistakes\n`);
  const refused = findRefused(copy, chosen);
  for (const [file, text] of texts) writeFileSync(file, text);
  execFileSync("npm", ["run", "-s", "bundle:programs"], { stdio: "inherit" });
  const reach = values.tests ? await measureReach(values.tests) : await readReach(kept, sites);
  let lived = 0;
  let equivalent = 0;
  const left = [...chosen];
  async function tryAll(trials: Trials): Promise<void> {
    for (let site = left.shift(); site; site = left.shift()) await tryOne(site, trials);
    await trials.close();
  }
  async function tryOne(site: Site, trials: Trials): Promise<void> {
    const reason = refused.has(site) ? undefined : equivalents[nameOf(site)];
    const files = testsOf(sites.indexOf(site), sites, reach, values.tests ? Infinity : trialMs);
    const isTried = !reason && files.length > 0;
    const noticedBy =
      refused.get(site) ?? (isTried && (await trials.notice(sites.indexOf(site), site, files)));
    if (reason) equivalent++;
    else if (!noticedBy) lived++;
    const word = reason ? "the same" : noticedBy ? "noticed" : "LIVES";
    const reaching = files.length > 0 ? `${files.length} test files` : "no test has a value that it changes";
    const why = reason ?? (noticedBy || reaching);
    process.stdout.write(`${word.padEnd(8)}  ${site.file}:${site.line}  ${site.change}  (${why})\n`);
  }
  const lanes: Trials[] = [];
  for (let lane = 0; lane < 4; lane++) lanes.push(await Trials.open());
  await Promise.all(lanes.map(tryAll));
  const others = Math.max(chosen.length - equivalent, 1);
  const told = (of: number) => `${lived} of ${of} live (${((100 * lived) / Math.max(of, 1)).toFixed(1)} %)`;
  process.stdout.write(
    `\n${told(others)}, ${told(others - refused.size)} without what is refused, and ${equivalent} change nothing\n`,
  );
  return lived;
}

/** The mistakes of every source of the built programs. `texts` are the sources in which each is a switch. */
function findMistakes(): { sites: Site[]; texts: Map<string, string> } {
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
  return { sites, texts };
}

/** What is kept of a test file: `reached` are places in the list of names, of which it could notice the first `known`. */
type Kept = Reach & { hash: string; known: number };

/** So many test files are measured at a time, and then kept: a run that is stopped goes on there. */
const measuredAtOnce = 16;

/**
 * What every test file reaches: one that is new or has changed is measured, which takes as long as `npm test` for all of them.
 * A mistake that is new since then counts as reached by what reaches its file.
 */
async function readReach(kept: string, sites: Site[]): Promise<Reach[]> {
  const last: { names: string[]; tests: Kept[] } = existsSync(kept)
    ? JSON.parse(readFileSync(kept, "utf8"))
    : { names: [], tests: [] };
  const names = [...new Set([...last.names, ...sites.map(nameOf)])];
  const placeOf = new Map(names.map((name, at) => [name, at]));
  const places = sites.map((site) => placeOf.get(nameOf(site)) ?? 0);
  const hashes = new Map(globSync("tests/**/*.test.ts").map((file) => [file, hash(readFileSync(file))]));
  const tests = last.tests.filter(({ file, hash }) => hashes.get(file) === hash);
  const measured = new Set(tests.map(({ file }) => file));
  const left = [...hashes.keys()].filter((file) => !measured.has(file)).sort();
  while (left.length > 0) {
    for (const { file, ms, reached } of await measureReach(left.splice(0, measuredAtOnce))) {
      const found = [...new Set(reached.map((id) => places[id] ?? 0))];
      tests.push({ file, ms, reached: found, hash: hashes.get(file) ?? "", known: names.length });
    }
    writeFileSync(kept, JSON.stringify({ names, tests }));
  }
  return tests.map(({ file, ms, reached, known }) => {
    const found = new Set(reached);
    const files = new Set(reached.map((at) => names[at]?.split(": ")[0]));
    const isReached = (site: Site, id: number) =>
      Number(places[id]) < known ? found.has(Number(places[id])) : files.has(site.file);
    return { file, ms, reached: sites.flatMap((site, id) => (isReached(site, id) ? [id] : [])) };
  });
}

const hash = (text: Buffer) => createHash("sha256").update(text).digest("base64url");

const nameOf = ({ file, change }: Site) => `${file}: ${change}`;

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

/**
 * The test files that could notice a mistake, as time allows: those that could notice most of its source file first, then the
 * quickest. What is reached is measured on the embedded store, so all that run on each engine could notice one of PostgreSQL.
 */
function testsOf(id: number, sites: Site[], reach: Reach[], atMostMs: number): string[] {
  const site = sites[id];
  const file = site?.file;
  const isOnEach = (test: string) => readFileSync(test, "utf8").includes(".each(engines)");
  const ofFile = ({ reached }: Reach) => reached.filter((other) => sites[other]?.file === file).length;
  const reaching = reach
    .filter(({ reached, file }) => reached.includes(id) || (site && isOfPostgres(site) && isOnEach(file)))
    .map((test) => ({ ...test, near: ofFile(test) }))
    .sort((a, b) => b.near - a.near || a.ms - b.ms);
  let ms = 0;
  return reaching
    .filter((test, at) => {
      ms += test.ms;
      return at === 0 || ms < atMostMs;
    })
    .map(({ file }) => file);
}
