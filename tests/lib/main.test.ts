import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { engines } from "@/package.json";
import { Service } from "@/tests/support/service";

const needed = engines.node.replace(">=", "");

it.each(["server", "demo", "admin"])(
  "dist/%s/main.js tells an older Node in one line, and loads nothing that it lacks",
  (program) => {
    const file = `dist/${program}/main.js`;
    const older = "data:text/javascript,Object.defineProperty(process,'versions',{value:{node:'24.3.11'}})";
    const { status, stdout, stderr } = spawnSync("node", [`--import=${older}`, file], { encoding: "utf8" });
    expect([status, stdout, stderr]).toEqual([
      1,
      "",
      `This is Node 24.3.11, and Corner Office needs ${needed} or newer: install it, or start with npm, which brings it.\n`,
    ]);
    const imported = readFileSync(file, "utf8").matchAll(/\bimport\b[^;]*? from ['"]([^'"]+)/g);
    expect([...imported].map(([, name]) => name)).toEqual(["node:module"]);
  },
);

it("npm's scripts run a Node that is new enough, whichever is installed", () => {
  const [found = ""] =
    /\d.*/.exec(execFileSync("npm", ["exec", "--", "node", "--version"], { encoding: "utf8" })) ?? [];
  expect(found.localeCompare(needed, undefined, { numeric: true })).toBeGreaterThanOrEqual(0);
});

it("the SQLite of this Node has the fix of the WAL-reset bug (3.51.3), and check says its version", async () => {
  const { sqlite = "" } = process.versions;
  expect(sqlite.localeCompare("3.51.3", undefined, { numeric: true })).toBeGreaterThanOrEqual(0);
  const service = await Service.make({ SIGN_IN: "local" });
  expect((await service.check("store"))?.detail).toBe(`embedded, SQLite ${sqlite}, in ${service.dataDir}`);
});
