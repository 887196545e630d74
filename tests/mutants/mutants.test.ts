import { existsSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { mutants } from "@/tests/mutants/mutants";

it.each(mutants)("the source text of a mistake is found: $file, $mistake", ({ file, was, test }) => {
  expect(readFileSync(file, "utf8").split(was)).toHaveLength(2);
  expect(existsSync(test), test).toBe(true);
});
