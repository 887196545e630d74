import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { spawnLeashed } from "@/tests/support/leash";
import { oncePerWorker } from "@/tests/support/once-per-worker";

/** A program's exit code and output. */
export type Outcome = { code: number; stdout: string; stderr: string };

type Operator = (args: string[], environment: Record<string, string>) => Promise<Outcome>;

const operators = oncePerWorker("operators", () => new Map<string | undefined, Operator>());

/**
 * Runs an operator's command as `npm run admin` does, with these settings. One process runs all commands of a worker,
 * each in a fresh copy of our modules: a process per command took a third of the suite's time.
 */
export const operate: Operator = (args, environment) => {
  // Node reads it at its start, so another certificate needs another process.
  const { NODE_EXTRA_CA_CERTS } = environment;
  const operator = operators.get(NODE_EXTRA_CA_CERTS) ?? startOperator(NODE_EXTRA_CA_CERTS);
  operators.set(NODE_EXTRA_CA_CERTS, operator);
  return operator(args, environment);
};

function startOperator(NODE_EXTRA_CA_CERTS: string | undefined): Operator {
  const child = spawnLeashed(
    "node",
    ["--disable-warning=ExperimentalWarning", "tests/support/operator-process.mjs"],
    { stdio: ["pipe", "pipe", "inherit"], env: { ...process.env, NODE_EXTRA_CA_CERTS } },
    "process",
  );
  const waiting: ((outcome: Outcome) => void)[] = [];
  createInterface(child.stdout as Readable).on("line", (line) => waiting.shift()?.(JSON.parse(line)));
  child.once("exit", (code) => {
    for (const end of waiting) end({ code: code ?? 1, stdout: "", stderr: "the operator is gone" });
  });
  return (args, environment) =>
    new Promise((resolve) => {
      waiting.push(resolve);
      (child.stdin as Writable).write(`${JSON.stringify({ args, environment })}\n`);
    });
}
