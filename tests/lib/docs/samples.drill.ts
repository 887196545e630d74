import { execFile, execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { marked } from "marked";
import { describe, expect, it } from "vitest";
import { documents } from "@/lib/docs/documents";
import { documentPages } from "@/lib/http/register/pages";
import { borrowService } from "@/tests/support/block";
import { isInstalled } from "@/tests/support/databases";
import { createFolder } from "@/tests/support/leash";

/** A block of code of a served document. */
type Sample = { language: string; code: string };

const folder = createFolder();

const { service } = await borrowService();
await service.adminJson("account", "add", "ceo@example.com", "--plan", "licensed", "--credits", "12.5");
const link = await service.adminJson<{ url: string }>("emails", "unsubscribe-link", "ceo@example.com");
const environment = {
  PATH: process.env.PATH,
  CORNER_OFFICE_URL: service.url,
  CORNER_OFFICE_TOKEN: await service.token("ceo@example.com"),
  UNSUBSCRIBE_URL: link.url,
} as unknown as NodeJS.ProcessEnv;

async function samplesOf(path: string): Promise<Sample[]> {
  const { text } = await service.ask(`${path}.md`);
  return marked.lexer(text).flatMap((token) => {
    return token.type === "code"
      ? [{ language: token.lang?.split(" ")[0] ?? "", code: token.text as string }]
      : [];
  });
}

/** Runs a sample as it is (TypeScript as JavaScript), with a token on standard input. */
function run({ language, code }: Sample): Promise<{ exit: number; stdout: string; stderr: string }> {
  const file = join(folder, { sh: "sample.sh", ts: "sample.mjs", python: "sample.py" }[language] ?? "");
  writeFileSync(file, code);
  const program =
    { sh: ["bash", "-eu", file], ts: ["node", file], python: ["python3", file] }[language] ?? [];
  return new Promise((resolve) => {
    const options = { env: environment, cwd: folder };
    const child = execFile(program[0] ?? "", program.slice(1), options, (error, stdout, stderr) =>
      resolve({ exit: error ? Number(error.code) : 0, stdout, stderr }),
    );
    // A sample that reads no input may have ended before.
    child.stdin?.on("error", () => {}).end(`${environment.CORNER_OFFICE_TOKEN}\n`);
  });
}

const mayBeSkipped = (program: string) => !process.env.CI && !isInstalled(program);
const skipped = new Set(
  Object.entries({ sh: "curl", python: "python3" }).flatMap(([language, program]) =>
    mayBeSkipped(program) ? [language] : [],
  ),
);

/**
 * The programs of the platforms need an owner's approval: `connect-samples.drill.ts` runs them. Receivers of webhooks need
 * something to receive: `events/receivers.test.ts` does.
 */
const { connectAnApp, webhooks } = documentPages;
const runHere = documents.filter(
  ({ path }) => path !== webhooks.path && !path.startsWith(`${connectAnApp.path}/`),
);

describe("the samples", () => {
  it.each(runHere.map(({ path }) => path))("of %s run as they are", { timeout: 120_000 }, async (path) => {
    for (const sample of await samplesOf(path)) {
      expect(["sh", "ts", "python", "swift", "kotlin", "json", "http", "console", "text"]).toContain(
        sample.language,
      );
      if (sample.language === "json") JSON.parse(sample.code);
      if (!["sh", "ts", "python"].includes(sample.language) || skipped.has(sample.language)) continue;
      const { exit, stdout, stderr } = await run(sample);
      expect(exit, `${sample.code}\n${stdout}${stderr}`).toBe(0);
    }
  });

  it("of the entitlement check distinguish a licensed account from an invalid token", async () => {
    const checks = (await samplesOf("/docs")).filter(({ code }) =>
      /new CompanyGate|= CompanyGate/.test(code),
    );
    expect(checks.map(({ language }) => language)).toEqual(["ts", "python"]);
    const [download] = (await samplesOf("/docs")).filter(({ code }) => code.includes("-o corner-office.mjs"));
    await run(download as Sample);
    const token = environment.CORNER_OFFICE_TOKEN;
    for (const sample of checks.filter(({ language }) => !skipped.has(language))) {
      expect((await run(sample)).stdout).toMatch(/may_?run'?: true.*(?:[5678]\d\d|900)/is);
      environment.CORNER_OFFICE_TOKEN = "not-a-token";
      expect((await run(sample)).stdout).toMatch(/may_?run'?: false.*signed_out/is);
      environment.CORNER_OFFICE_TOKEN = token;
    }
  });

  it("that reads a token reads only the token if more lines are pasted", async () => {
    const [sample] = (await samplesOf("/docs")).filter(({ code }) => code.includes("read -rs"));
    const pasted = `${sample?.code}\nthe-token\nprintenv CORNER_OFFICE_TOKEN\n`;
    expect(sample?.code).not.toContain("\n");
    expect(execFileSync("bash", ["-s"], { input: pasted, encoding: "utf8" })).toBe("the-token\n");
  });
});
