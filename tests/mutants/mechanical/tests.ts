import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import {
  BaseSequencer,
  createVitest,
  type Reporter,
  type TestModule,
  type TestSpecification,
} from "vitest/node";
import type { Site } from "@/tests/mutants/mechanical/sites";
import { createFolder } from "@/tests/support/leash";

declare module "vitest" {
  interface ProvidedContext {
    /** The number of the mistake that is made; `undefined` if none is. */
    mistake: number | undefined;
  }
}

/** What a test file can notice: how long it takes, and the numbers of the mistakes whose places it reached. */
export type Reach = { file: string; ms: number; reached: number[] };

/** Whether only tests on PostgreSQL can notice a mistake: the embedded store has one writer, and so no locks of rows. */
export const isOfPostgres = ({ file, change }: Site): boolean =>
  file.startsWith("lib/db/postgres/") || /for\w*(Update|Share)\(|skipLocked\(/.test(change);

/** Longer than a test file takes: the mistake has made a loop. */
const loopSeconds = 180;

class InOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return files;
  }
}

/** Vitest in this folder, on the embedded store, with a new process for each test file. */
function openVitest(bail: number, maxWorkers: number, reporter: Reporter = {}) {
  return createVitest(
    {
      config: false,
      watch: false,
      bail,
      isolate: true,
      maxWorkers,
      reporters: [reporter],
      sequence: { sequencer: InOrder },
      include: ["tests/**/*.test.ts"],
      provide: { engines: ["the embedded store"], mistake: undefined },
      env: { SUPPORT_EMAIL: "help@example.com" },
      globalSetup: "tests/support/databases.ts",
      setupFiles: ["tests/support/each-file.ts", "tests/mutants/mechanical/each-file.ts"],
      testTimeout: 60_000,
      hookTimeout: 60_000,
    },
    { resolve: { alias: { "@": process.cwd() } } },
  );
}

/** Runs these test files with no mistake. Returns what each reaches that passes. */
export async function measureReach(files: string[]): Promise<Reach[]> {
  const folder = createFolder();
  process.env.REACHED_FOLDER = folder;
  const vitest = await openVitest(0, 4);
  const project = vitest.getRootProject();
  const { testModules } = await vitest.runTestSpecifications(
    files.map((file) => project.createSpecification(resolve(file))),
  );
  await vitest.close();
  delete process.env.REACHED_FOLDER;
  return testModules.flatMap((module) => {
    const file = module.relativeModuleId;
    if (!module.ok()) {
      process.stdout.write(`left out, as it fails with no mistake: ${failureOf(module)}\n`);
      return [];
    }
    const noted = join(folder, file.replaceAll("/", "+"));
    const reached = readdirSync(folder).includes(file.replaceAll("/", "+"))
      ? readFileSync(noted, "utf8")
      : "";
    return {
      file,
      ms: module.diagnostic().duration,
      reached: [...new Set(reached.split("\n").filter(Boolean).map(Number))],
    };
  });
}

/** Which test of a file failed first, and how. */
function failureOf(module: TestModule): string {
  const [test] = module.children.allTests("failed");
  const [error] = test?.result().errors ?? module.errors();
  const told = String(error?.message).split("\n")[0]?.slice(0, 90);
  return `${module.relativeModuleId}: ${test?.name ?? "the whole file"}: ${told}`;
}

/** Runs test files with a mistake until one fails. */
export class Trials {
  private constructor(
    private readonly vitest: Awaited<ReturnType<typeof openVitest>>,
    private readonly failed: string[],
  ) {}

  static async open(): Promise<Trials> {
    const failed: string[] = [];
    // What a run returns has the failures of earlier ones too.
    const onTestModuleEnd = (module: TestModule) => {
      if (!module.ok()) failed.push(failureOf(module));
    };
    return new Trials(await openVitest(1, 1, { onTestModuleEnd }), failed);
  }

  /** The test that notices the mistake, or `undefined`. */
  async notice(id: number, site: Site, files: string[]): Promise<string | undefined> {
    this.failed.length = 0;
    this.vitest.provide("mistake", id);
    this.vitest.provide("engines", [isOfPostgres(site) ? "PostgreSQL" : "the embedded store"]);
    const project = this.vitest.getRootProject();
    const timer = setInterval(endLoops, 10_000);
    const { unhandledErrors } = await this.vitest.runTestSpecifications(
      files.map((file) => project.createSpecification(resolve(file))),
    );
    clearInterval(timer);
    return this.failed[0] ?? (unhandledErrors.length > 0 ? String(unhandledErrors[0]) : undefined);
  }

  async close(): Promise<void> {
    await this.vitest.close();
  }
}

/** Ends what runs one test file for too long: it answers nobody. */
function endLoops(): void {
  spawnSync("pkill", ["-KILL", "-P", String(process.pid), "--older", String(loopSeconds), "node"]);
}
