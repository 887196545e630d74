import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";

it("no type is made of another by way of unknown where requests are answered", () => {
  const files = ["app", "lib/http", "lib/server", "lib/office"].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((name) => /\.tsx?$/.test(name))
      .map((name) => `${folder}/${name}`),
  );
  expect(files.filter((file) => readFileSync(file, "utf8").includes("as unknown as"))).toEqual([]);
});
