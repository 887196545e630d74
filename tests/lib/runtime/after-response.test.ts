import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { platformContext } from "@/lib/runtime/after-response";

const read = (file: string) => readFileSync(`node_modules/next/${file}`, "utf8");

it("the name of Next that its documentation does not promise was tried on the installed version", () => {
  const { version } = JSON.parse(read("package.json"));
  expect(version, "try platformContext of lib/runtime/after-response.ts on it, then raise this").toBe(
    "16.4.6",
  );
  expect(read("dist/server/after/builtin-request-context.js")).toContain(platformContext.description);
});
