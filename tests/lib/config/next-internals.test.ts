import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  buildFiles,
  clientHeaderCharacters,
  configurationVariable,
  middlewareHeaders,
  nextPaths,
  platformContext,
  serverActionCharacters,
  testedNextVersion,
} from "@/lib/config/next-internals";

const read = (file: string) => readFileSync(`node_modules/next/${file}`, "utf8");
const { version } = JSON.parse(read("package.json"));

/** The files of Next that use each name. */
const uses: [name: string, file: string][] = [
  ...Object.values(middlewareHeaders).map((name): [string, string] => [
    name,
    "dist/server/web/spec-extension/response.js",
  ]),
  ...Object.keys({ ...clientHeaderCharacters, ...serverActionCharacters }).map((name): [string, string] => [
    `'${name}'`,
    "dist/client/components/app-router-headers.js",
  ]),
  [nextPaths.assets, "dist/server/lib/router-utils/filesystem.js"],
  [nextPaths.development, "dist/server/dev/next-dev-server.js"],
  [configurationVariable, "dist/server/config.js"],
  [platformContext.description ?? "", "dist/server/after/builtin-request-context.js"],
];

describe(`the names of Next ${version} that its documentation does not promise`, () => {
  it("were tried on this version", () => {
    expect(
      version,
      `Next is ${version} now: try each name of lib/config/next-internals.ts on it, then raise testedNextVersion`,
    ).toBe(testedNextVersion);
  });

  it.each(uses)("still include %s, in %s", (name, file) => {
    expect(read(file).includes(name), `Next ${version} has no '${name}' in ${file} any more`).toBe(true);
  });

  it.each(Object.values(buildFiles))("still include %s, after a build", (file) => {
    expect(existsSync(file), `Next ${version} builds no ${file} any more`).toBe(true);
  });
});
