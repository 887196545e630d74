import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { documents } from "@/lib/docs/documents";
import { callSamples, programs } from "@/lib/docs/samples";
import { operations } from "@/lib/http/register/operations";
import { badAnswers, badWaits, serveBadAnswers } from "@/tests/lib/docs/bad-answers";
import { isInstalled } from "@/tests/support/databases";
import { createFolder } from "@/tests/support/leash";

const bad = await serveBadAnswers();
const execute = promisify(execFile);

/** What a sample printed, how long it waited, and with what it failed. */
type Run = { printed: string; waits: number[]; failure: string };

/** Runs a sample once for each base URL, in one process. Its pauses take no time. */
const runners: Record<string, { needs: string; file: string; program: string }> = {
  ts: {
    needs: "node",
    file: "sample.mjs",
    program: `const waits = [];
globalThis.startTimer = (done, ms) => (waits.push(ms / 1000), done());
for (const [n, url] of process.argv.slice(2).entries()) {
  Object.assign(process.env, { CORNER_OFFICE_URL: url, UNSUBSCRIBE_URL: url + "/api/email/unsubscribe" });
  let printed = "";
  const { log } = console;
  console.log = (...values) => { printed += values.join(" ") + "\\n"; };
  const failure = await import("./sample.mjs?" + n).then(() => "", (thrown) => String(thrown));
  console.log = log;
  console.log(JSON.stringify({ printed: printed.slice(0, 40), waits: waits.splice(0), failure: failure.slice(0, 80) }));
}
process.exit();`,
  },
  python: {
    needs: "python3",
    file: "sample.py",
    program: `import contextlib, io, json, os, runpy, sys, time
for url in sys.argv[1:]:
    os.environ.update(CORNER_OFFICE_URL=url, UNSUBSCRIBE_URL=url + "/api/email/unsubscribe")
    printed, waits, failure = io.StringIO(), [], ""
    time.sleep = waits.append
    try:
        with contextlib.redirect_stdout(printed):
            runpy.run_path("sample.py")
    except (Exception, SystemExit) as thrown:
        failure = f"{type(thrown).__name__}: {thrown}"
    print(json.dumps({"printed": printed.getvalue()[:40], "waits": waits, "failure": failure[:80]}))`,
  },
};

/** Runs the sample of a language against answers. Its deadline is a second. */
async function run(samples: string, language: string, names: Iterable<string>): Promise<[string, Run][]> {
  const [, code = ""] = new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\``, "m").exec(samples) ?? [];
  const { needs, file, program } = runners[language] as (typeof runners)[string];
  const folder = createFolder();
  writeFileSync(
    join(folder, file),
    code
      .replaceAll("10_000", "1000")
      .replace("setTimeout(", "startTimer(")
      .replaceAll("timeout=10", "timeout=1"),
  );
  const driver = file.replace("sample", "driver");
  writeFileSync(join(folder, driver), program);
  const all = [...names];
  const env = { PATH: process.env.PATH, CORNER_OFFICE_TOKEN: "the-token" } as unknown as NodeJS.ProcessEnv;
  const { stdout } = await execute(needs, [driver, ...all.map(bad.at)], {
    cwd: folder,
    env,
    timeout: 100_000,
  });
  const runs = stdout.trimEnd().split("\n");
  return all.map((name, at) => [name, JSON.parse(runs[at] ?? "{}")]);
}

const languages = Object.entries(runners).flatMap(([language, { needs }]) =>
  process.env.CI || isInstalled(needs) ? [language] : [],
);

/** Faults of the program, as opposed to those of the answer. */
const slips =
  /Cannot read|is not (?:a function|iterable|defined)|^(?:Key|Attribute|Name|Type|UnboundLocal)Error: (?!fetch failed|terminated)/;

describe.each(languages)("the samples in %s", (language) => {
  it.each(["entitlement", "unsubscribe"] as const)(
    "of %s print only a 200, fail on any other answer with its status or cause, and reach no other host",
    async (name) => {
      const runs = await run(callSamples(operations[name]), language, badAnswers.keys());
      expect(runs.filter(([name, { printed }]) => printed && /^(?!200)\d/.test(name))).toEqual([]);
      expect(runs.filter(([, { printed, failure }]) => !printed && !failure)).toEqual([]);
      expect(runs.filter(([, { failure }]) => slips.test(failure))).toEqual([]);
      expect(bad.strayed).toEqual([]);
    },
    120_000,
  );

  it("of retries send five requests at most, after a second to an hour each, and reach no other host", async () => {
    const runs = await run(programs("retries.mjs", "retries.py"), language, [
      ...badAnswers.keys(),
      ...badWaits.keys(),
    ]);
    const waited = runs.flatMap(([, { waits }]) => waits);
    expect(waited.filter((seconds) => !(seconds >= 1 && seconds <= 3600 * 1.1 + 1))).toEqual([]);
    expect(runs.filter(([, { waits }]) => waits.length > 4)).toEqual([]);
    expect(runs.filter(([name, { waits }]) => name.startsWith("503 ") && waits.length !== 4)).toEqual([]);
    expect(bad.strayed).toEqual([]);
  }, 120_000);
});

it("no command of a document follows a redirect", () => {
  const commands = documents.flatMap(({ markdown }) => markdown().match(/^.*\bcurl\b.*$/gm) ?? []);
  expect(commands.length).toBeGreaterThan(5);
  expect(commands.filter((command) => /\s-[a-zA-Z]*L|--location/.test(command))).toEqual([]);
});
