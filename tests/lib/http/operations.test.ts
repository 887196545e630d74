import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { errorCatalogue } from "@/lib/http/errors";
import { mcpServer, operations } from "@/lib/http/operations";
import { addresses } from "@/tests/support/contract";
import { supportEmail } from "@/tests/support/lent-service";
import { refusals } from "@/tests/support/refusals";

/** The differences from the register, the catalogue or the specification's own lists. */
describe("the register", () => {
  const paths = addresses.map(({ path }) => path);

  it("holds the addresses that are published, and no other", () => {
    expect([...Object.values(operations).map(({ path }) => path), ...mcpServer.paths]).toEqual(paths);
  });

  it("holds the folders under app/api and app/mcp, and no other", () => {
    const routes = ["api", "mcp"].flatMap((folder) =>
      readdirSync(`app/${folder}`, { recursive: true, encoding: "utf8" })
        .filter((file) => file.endsWith("route.ts"))
        .map((file) => `/${folder}/${file}`.replace(/\/route\.ts$/, "")),
    );
    expect(routes.sort()).toEqual([...paths].sort());
  });

  it.each(addresses)("has the methods that $path exports", async ({ path, methods }) => {
    const exported = Object.keys(await import(/* @vite-ignore */ resolve(`app${path}/route.ts`)));
    expect(exported.sort()).toEqual([...methods].sort());
  });
});

describe("the error catalogue", () => {
  it("holds the 22 codes of version 1, each with its words", () => {
    process.env.SUPPORT_EMAIL = supportEmail;
    onTestFinished(() => {
      delete process.env.SUPPORT_EMAIL;
    });
    expect(Object.keys(errorCatalogue)).toHaveLength(22);
    expect(errorCatalogue).toMatchObject(refusals);
  });
});

describe("the top level", () => {
  it("has these files and folders and no others", () => {
    const ignored = readFileSync(".gitignore", "utf8").split("\n");
    const isIgnored = (name: string) =>
      ignored.some(
        (line) => line.replace(/\/$/, "") === name || (line.startsWith("*") && name.endsWith(line.slice(1))),
      );
    const top = readdirSync(".").filter((name) => name !== ".git" && !isIgnored(name));
    expect(top.sort()).toEqual(
      [
        "app",
        "lib",
        "middleware.ts",
        "tests",
        "e2e",
        "public",
        "next.config.ts",
        "package.json",
        "tsconfig.json",
        "vitest.config.ts",
        "playwright.config.ts",
        ".env.example",
        "README.md",
        "package-lock.json",
        ".gitignore",
        "LICENSE",
        "biome.json",
        ".ci",
      ].sort(),
    );
    expect(existsSync(join(".ci", "run"))).toBe(true);
  });

  it("pins every dependency exactly", () => {
    const { dependencies, devDependencies } = JSON.parse(readFileSync("package.json", "utf8"));
    for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies })) {
      expect(version, name).toMatch(/^\d+\.\d+\.\d+$/);
    }
  });
});
