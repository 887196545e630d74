import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const contract = ["tests/contract.test.ts"];
/** What is dear and rarely breaks: whole servers that are killed, frozen, upgraded or flooded. */
const drills = ["tests/**/*.drill.ts"];

/** What behaves alike on each engine runs on the embedded store in `npm test`, and again on PostgreSQL in the drills. */
const onEachEngine = globSync("tests/**/*.test.ts").filter((file) =>
  readFileSync(file, "utf8").includes(".each(engines)"),
);
const [embedded, postgres] = ["the embedded store", "PostgreSQL"];

const resolve = { alias: { "@": fileURLToPath(new URL(".", import.meta.url)) } };
type Files = { include: string[]; exclude?: string[] };
const project = (name: string, files: Files, groupOrder: number, ...engines: string[]) => ({
  resolve,
  test: {
    name,
    ...files,
    provide: { engines, isAlone: name === "drills" },
    // Modules are loaded once for all files of a worker; what they keep is forgotten after each.
    isolate: false,
    // What the lent services say: the tests compare their words with the catalogue's.
    env: { SUPPORT_EMAIL: "help@example.com" },
    sequence: { groupOrder },
    setupFiles: "tests/support/each-file.ts",
    // The report names what failed at first.
    retry: process.env.CI ? 1 : 0,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // The report of a run says of what failed what it was.
    chaiConfig: { truncateThreshold: 1000 },
  },
});

export default defineConfig({
  resolve,
  test: {
    globalSetup: "tests/support/databases.ts",
    // The files wait about as long as they compute: four keep two processors busy.
    maxWorkers: 4,
    isolate: false,
    projects: [
      project("each", { include: ["tests/**/*.test.ts"], exclude: contract }, 0, embedded),
      // Once all others have had their answers.
      project("contract", { include: contract }, 1),
      // `npm run drills`.
      project("drills", { include: drills }, 2, embedded, postgres),
      // `npm run walks`: a Debian and a container from nothing.
      project("walks", { include: ["tests/**/*.walk.ts"] }, 3, postgres),
      project("postgres", { include: onEachEngine }, 2, postgres),
    ],
  },
});
