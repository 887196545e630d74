import { writeFileSync } from "node:fs";
import { spawnLeashed } from "@/tests/support/leash";
import { Service } from "@/tests/support/service";

/*
 * The official conformance suite, and the Inspector, against the service and against the suite's fixtures behind the
 * same endpoint. `npm run conformance` starts this inside `npx`, which brings the suite and the newer Node it needs.
 */

/** The service runs on the Node of the machine, not on the one that npx brought. */
const PATH = (process.env.PATH ?? "")
  .split(":")
  .filter((folder) => !folder.includes("/_npx/"))
  .join(":");
const environment = { PATH, RATE_LIMIT_MCP: "1000000", LOG_LEVEL: "warn" };

/** The scenarios of each revision that test what the service itself offers. */
const offered: Record<string, string[]> = {
  "2025-11-25": ["server-initialize", "ping", "tools-list", "resources-list", "dns-rebinding-protection"],
  "2026-07-28": [
    ...["server-stateless", "tools-list", "resources-list", "sep-2164-resource-not-found", "caching"],
    ...["dns-rebinding-protection", "http-header-validation"],
  ],
};

/** Every command that ran, how long it took and whether it passed. */
const outcomes: { name: string; ms: number; passed: boolean }[] = [];

const service = await Service.start(environment);
for (const [revision, scenarios] of Object.entries(offered)) {
  for (const scenario of scenarios) {
    const only = ["--scenario", scenario, "--spec-version", revision];
    await conformance(service, ...only, ...expecting("service"));
  }
}
for (const era of ["legacy", "modern"]) await inspect(service, era);
await service.stop();

const fixtures = await Service.start(environment, { program: ["dist/conformance/server.js"] });
await conformance(fixtures, "--requirements", "2025-11-25", ...expecting("2025-11-25"));
await conformance(fixtures, "--requirements", "2026-07-28");
await fixtures.kill();

if (process.env.CONFORMANCE_RESULTS) {
  writeFileSync(process.env.CONFORMANCE_RESULTS, JSON.stringify(outcomes));
}
const failures = outcomes.filter(({ passed }) => !passed).map(({ name }) => name);
const verdict = failures.length > 0 ? ["FAILED:", ...failures] : ["Conformance: all as expected."];
process.stdout.write(`${verdict.join("\n")}\n`);
process.exit(failures.length > 0 ? 1 : 0);

/** The failures that are no fault, each with its reason. */
function expecting(name: string): string[] {
  return ["--expected-failures", `tests/conformance/expected-failures-${name}.yml`];
}

function conformance({ url }: Service, ...options: string[]): Promise<void> {
  return run("conformance", "server", "--url", `${url}/mcp`, ...options);
}

/** The Inspector's strict mode fails on whatever in a tool's schemas some client could not make sense of. */
function inspect({ url }: Service, era: string): Promise<void> {
  const npx = [
    "-y",
    "--ignore-scripts",
    "-p",
    "@modelcontextprotocol/inspector@2.12.0",
    "--",
    "mcp-inspector",
  ];
  const address = [`${url}/mcp`, "--transport", "http", "--protocol-era", era, "--stored-auth-only"];
  const strictly = ["--method", "tools/list", "--strict", "-q", "--format", "json"];
  return run("npx", ...npx, "--cli", ...address, ...strictly);
}

/** Runs a program, and prints what it says when it fails. */
function run(program: string, ...options: string[]): Promise<void> {
  return new Promise((resolve) => {
    const startedAtMs = Date.now();
    const child = spawnLeashed(program, options, { stdio: ["ignore", "pipe", "pipe"] });
    let said = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on("data", (chunk) => {
        said += chunk;
      });
    }
    child.once("close", (code) => {
      const name = [program, ...options].join(" ");
      outcomes.push({ name, ms: Date.now() - startedAtMs, passed: code === 0 });
      process.stdout.write(code === 0 ? `passed: ${name}\n` : `${said}failed with ${code}: ${name}\n`);
      resolve();
    });
  });
}
