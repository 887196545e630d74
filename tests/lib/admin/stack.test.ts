import { execFileSync } from "node:child_process";
import { expect, it } from "vitest";
import { operations } from "@/lib/http/register/operations";
import { startService, startStage } from "@/tests/support/block";
import { eventually } from "@/tests/support/databases";
import { type Engine, engines } from "@/tests/support/engines";

const stage = await startStage(engines[0] as Engine);
const service = await startService(stage.environment, { expectErrors: true });

it("stack prints a log with the stacks of our programs in our sources, and the rest of it unchanged", async () => {
  await service.adminJson("account", "add", "ceo@example.com");
  const headers = { Authorization: `Bearer ${await service.token("ceo@example.com")}` };
  await stage.query("ALTER TABLE accounts RENAME TO accounts_away");
  expect((await service.ask(operations.entitlement.path, { headers })).status).toBe(503);
  await eventually(() => expect(service.log).toContain("an account could not be read"));
  expect(service.log).toMatch(/dist\/chunks\/[\w-]+\.js:\d+:\d+/);

  const unknown = "dist/server/nothing.js:1:2 and dist/server/program.js:999999999:1\n";
  const input = service.log + unknown;
  const env = service.environment as NodeJS.ProcessEnv;
  const printed = execFileSync("node", ["dist/admin/main.js", "stack"], { input, env, encoding: "utf8" });
  const [line = "", before = ""] = [printed, service.log].map((text) =>
    text.split("\n").find((candidate) => candidate.includes("an account could not be read")),
  );
  expect(line).toMatch(/at \w\S* \(file:\/\/\S+\/lib\/db\/sqlite\/dialect\.ts:\d+:\d+\)/);
  expect(line).not.toContain("dist/");
  expect(JSON.parse(line).err.message).toBe(JSON.parse(before).err.message);
  expect(printed.split("\n")).toHaveLength(input.split("\n").length);
  expect(printed).toContain("dist/server/nothing.js:1:2 and ");
});
