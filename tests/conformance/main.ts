import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Browser } from "@/tests/support/browser";
import { createFolder, spawnLeashed } from "@/tests/support/leash";
import { answerApp } from "@/tests/support/owner";
import { reservePort } from "@/tests/support/port";
import { Service } from "@/tests/support/service";

/*
 * Runs the scenarios of the official conformance suite that test what the service offers, and the Inspector.
 * `npm run conformance` starts this by `npx`, which provides the suite.
 */

/** The scenarios of each revision that test what the service offers. */
const offered: Record<string, string[]> = {
  "2025-11-25": [
    "server-initialize",
    "ping",
    "tools-list",
    "resources-list",
    "prompts-list",
    "dns-rebinding-protection",
  ],
  "2026-07-28": [
    "server-stateless",
    "tools-list",
    "resources-list",
    "prompts-list",
    "input-required-result-unsupported-methods",
    "sep-2164-resource-not-found",
    "caching",
    "dns-rebinding-protection",
    "http-header-validation",
  ],
};

/**
 * Checks of these scenarios that call a tool of the suite's own, and what the suite says because the service has none. A
 * failure with another message is an error, and so is a check that no longer fails.
 */
const expected: Record<string, RegExp> = Object.fromEntries(
  [
    ["server-rejects-undeclared-capability", "test_missing_capability"],
    ["missing-capability-http-400", "test_missing_capability"],
    ["http-server-no-independent-requests-on-stream", "test_streaming_elicitation"],
    ["server-no-log-without-loglevel", "test_logging_tool"],
  ].map(([check, tool]) => [
    `server-stateless:sep-2575-${check}`,
    new RegExp(`^Not testable: server does not list the diagnostic tool '${tool}'`),
  ]),
);

/** Every command with its duration and result. */
const outcomes: { name: string; ms: number; passed: boolean }[] = [];

const service = await Service.start({ SIGN_IN: "local", RATE_LIMIT_MCP: "1000000", LOG_LEVEL: "warn" });
// The revisions at once: in sequence, the program starts take too long.
await Promise.all(Object.entries(offered).map(([revision, scenarios]) => tryRevision(revision, scenarios)));
for (const era of ["legacy", "modern"]) await inspect(era);
await service.stop();

if (process.env.CONFORMANCE_RESULTS) {
  writeFileSync(process.env.CONFORMANCE_RESULTS, JSON.stringify(outcomes));
}
const failures = outcomes.filter(({ passed }) => !passed).map(({ name }) => name);
const verdict = failures.length > 0 ? ["FAILED:", ...failures] : ["Conformance: all as expected."];
process.stdout.write(`${verdict.join("\n")}\n`);
process.exit(failures.length > 0 ? 1 : 0);

async function tryRevision(revision: string, scenarios: string[]): Promise<void> {
  for (const scenario of scenarios) await conformance(scenario, revision);
  await authorize(revision);
}

/** Runs a scenario, and checks that each expected failure has its expected message. */
async function conformance(scenario: string, revision: string): Promise<void> {
  const folder = createFolder();
  const list = join(folder, "expected-failures.yml");
  const names = Object.keys(expected);
  writeFileSync(list, `server:\n${names.map((name) => `  - ${name}\n`).join("")}`);
  const results = join(folder, "results");
  const where = ["--url", `${service.url}/mcp`, "--output-dir", results, "--expected-failures", list];
  await run("conformance", ["server", ...where, "--scenario", scenario, "--spec-version", revision]);
  const wrong = readFailures(results).filter(
    ({ name, said }) => expected[name] && !expected[name].test(said),
  );
  for (const { name, said } of wrong) {
    outcomes.push({ name: `${name} failed for another reason: ${said}`, ms: 0, passed: false });
  }
}

type Check = { id: string; status: string; errorMessage?: string; details?: { message?: string } };

/** The suite's failures and warnings, by the names of its expected-failures list, with their messages. */
function readFailures(results: string): { name: string; said: string }[] {
  return readdirSync(results).flatMap((run) => {
    const scenario = run.replace(/^server-/, "").replace(/-\d{4}-\d\d-\d\dT.*$/, "");
    const checks: Check[] = JSON.parse(readFileSync(join(results, run, "checks.json"), "utf8"));
    return checks
      .filter(({ status }) => status === "FAILURE" || status === "WARNING")
      .flatMap(({ id, errorMessage, details }) => {
        const said = errorMessage ?? details?.message ?? "";
        return [scenario, `${scenario}:${id}`].map((name) => ({ name, said: said.replace(/^Failed: /, "") }));
      });
  });
}

/**
 * Runs all of the suite's authorization-server scenarios: our metadata, and a code from the owner's approval, for a
 * client on its own port. The scenarios named `auth/…` test clients.
 */
async function authorize(revision: string): Promise<void> {
  const email = `${revision}@example.com`;
  await service.adminJson("account", "add", email, "--plan", "licensed");
  const browser = await Browser.signIn(service, email);
  const where = ["--url", service.url, "--spec-version", revision, "--port", String(await reservePort())];
  const client = ["--client-id", "native", "--resource", `${service.url}/mcp`];
  await run("conformance", ["authorization", ...where, ...client], async (said) => {
    const [address] = /^http\S+\/oauth\/authorize\?\S+$/m.exec(said) ?? [];
    if (address) await fetch(await answerApp(browser, service, address));
    return address !== undefined;
  });
}

/** The Inspector's strict mode fails on any tool schema that some client cannot process. */
function inspect(era: string): Promise<void> {
  const npx = [
    "-y",
    "--ignore-scripts",
    "-p",
    "@modelcontextprotocol/inspector@2.12.0",
    "--",
    "mcp-inspector",
  ];
  const address = [`${service.url}/mcp`, "--transport", "http", "--protocol-era", era, "--stored-auth-only"];
  const strictly = ["--method", "tools/list", "--strict", "-q", "--format", "json"];
  return run("npx", [...npx, "--cli", ...address, ...strictly]);
}

/**
 * Runs a program, and prints its output if it fails.
 *
 * @param hear - receives the output so far, until it returns true
 */
function run(
  program: string,
  options: string[],
  hear: (said: string) => Promise<boolean> = async () => true,
): Promise<void> {
  return new Promise((resolve) => {
    const startedAtMs = Date.now();
    const child = spawnLeashed(program, options, { stdio: ["ignore", "pipe", "pipe"] });
    let said = "";
    let heard = Promise.resolve(false);
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on("data", (chunk) => {
        said += chunk;
        heard = heard.then((isHeard) => isHeard || hear(said));
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
