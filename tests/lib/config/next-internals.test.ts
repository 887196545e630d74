import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { platformContext, testedNextVersion } from "@/lib/config/next-internals";

const read = (file: string) => readFileSync(`node_modules/next/${file}`, "utf8");

it("the names of Next that its documentation does not promise were tried on the installed version", () => {
  const { version } = JSON.parse(read("package.json"));
  const remedy = "try each name of lib/config/next-internals.ts on it, then raise testedNextVersion";
  expect(version, `Next is ${version} now: ${remedy}`).toBe(testedNextVersion);
  expect(read("dist/server/after/builtin-request-context.js")).toContain(platformContext.description);
});
