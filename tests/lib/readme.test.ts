import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const readmes = [
  "README.md",
  "tests/README.md",
  ...readdirSync("lib", { recursive: true, encoding: "utf8" })
    .filter((name) => /(README|CONTRIBUTING)\.md$/.test(name))
    .map((name) => `lib/${name}`),
];

const files = ["lib", "app", "tests", "e2e"].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => `${folder}/${name}`),
);
const { scripts } = JSON.parse(readFileSync("package.json", "utf8"));

describe.each(readmes)("%s", (readme) => {
  const text = readFileSync(readme, "utf8");

  it("names only files that exist", () => {
    const named = [...text.matchAll(/`([\w()./-]+\.(?:tsx?|sh|yml))`/g)].map(([, path = ""]) => path);
    const missing = named.filter((path) => !files.some((file) => `/${file}`.endsWith(`/${path}`)));
    expect(missing.filter((path) => !readdirSync(".").includes(path))).toEqual([]);
  });

  it("names only scripts that package.json has", () => {
    const named = [...text.matchAll(/\bnpm run (?:-s )?([\w:]+)/g)].map(([, script = ""]) => script);
    expect(named.filter((script) => !(script in scripts))).toEqual([]);
  });
});

it("the README has at most 150 lines", () => {
  expect(readFileSync("README.md", "utf8").split("\n").length).toBeLessThanOrEqual(151);
});
