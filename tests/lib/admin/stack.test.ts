import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { operations } from "@/lib/http/register/operations";
import { startService, startStage } from "@/tests/support/block";
import { eventually } from "@/tests/support/databases";
import { type Engine, engines } from "@/tests/support/engines";
import { createFolder } from "@/tests/support/leash";
import { operate } from "@/tests/support/operator";

const stage = await startStage(engines[0] as Engine, { isAlone: true });
const service = await startService(stage.environment, { expectErrors: true });

it("explain leads from the id of a failed request to its lines in the log", async () => {
  const { headers } = await service.ask(operations.entitlement.path);
  const id = String(headers["x-request-id"]);
  await eventually(() => expect(service.log).toContain(id));
  const { log } = await service.adminJson<{ log: string[] }>("explain", id);
  expect(log[0]).toBe(`journalctl -u office -o cat --grep ${id} | npm run -s admin -- stack`);
  expect(log[1]).toBe(`grep -F -e ${id} service.log | npm run -s admin -- stack`);
  const cwd = createFolder();
  writeFileSync(join(cwd, "service.log"), service.log);
  const [search = ""] = (log[1] ?? "").split(" | ");
  const found = execFileSync("sh", ["-c", search], { cwd, encoding: "utf8" });
  expect(found).toMatch(/^\{.*"path":"\/api\/entitlement","status":401,.*\}\n$/);

  // Where no store is too: that it is away may be why the request failed.
  const { code, stdout } = await operate(["explain", id], { ...service.environment, DATA_DIR: cwd });
  expect([code, stdout]).toEqual([0, expect.stringMatching(new RegExp(`^The log of .* has ${id}:`))]);
  const { stdout: anothers } = await service.admin("explain", "ceo.example.com");
  expect(anothers).toMatch(
    /^ceo\.example\.com is no id of ours: a client sent it, or it is an email without its @\.\n/,
  );
  const mistyped = await service.admin("explain", "ceo example");
  expect([mistyped.code, mistyped.stderr]).toEqual([2, expect.stringContaining("or the id of a failure")]);
});

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
