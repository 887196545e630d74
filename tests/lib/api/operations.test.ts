import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { errorCatalogue } from "@/lib/api/errors";
import { mcpServer, operations } from "@/lib/api/operations";

/** What has drifted from the register, the catalogue or the specification's own lists. */
describe("the register", () => {
  const mcpAddresses = mcpServer.paths.map((path) => ({ path, methods: mcpServer.methods }));
  const addresses = [...Object.values(operations), ...mcpAddresses];
  const paths = addresses.map(({ path }) => path);

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

  it("has a room for no address twice", () => {
    expect(new Set(paths).size).toBe(paths.length);
  });
});

describe("the error catalogue", () => {
  const codes = [
    "not_found, method_not_allowed, signed_out, trial_ended, forbidden, invalid_request, invalid_token",
    "not_configured, balance_unavailable, credits_not_configured, billing_not_configured, paid_only",
    "checkout_failed, portal_failed, limit_required, limit_failed, invalid_signature, fulfilment_failed",
    "unavailable, upstream_failed, too_large, internal_error",
  ];

  it("holds the 22 codes of version 1", () => {
    expect(Object.keys(errorCatalogue).sort()).toEqual(codes.join(", ").split(", ").sort());
  });
});

describe("the house", () => {
  it("has at its top what the README says, and nothing beside it", () => {
    const ignored = readFileSync(".gitignore", "utf8").split("\n");
    const isIgnored = (name: string) =>
      ignored.some(
        (line) => line.replace(/\/$/, "") === name || (line.startsWith("*") && name.endsWith(line.slice(1))),
      );
    const top = readdirSync(".").filter((name) => name !== ".git" && !isIgnored(name));
    expect(top.sort()).toEqual(
      [
        ...[
          "app",
          "lib",
          "middleware.ts",
          "tests",
          "e2e",
          "public",
          "next.config.ts",
          "package.json",
          "tsconfig.json",
        ],
        ...["vitest.config.ts", "playwright.config.ts", ".env.example", "README.md"],
        ...["package-lock.json", ".gitignore", "LICENSE", "biome.json", ".ci"],
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
