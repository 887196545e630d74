import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { errorCatalogue } from "@/lib/http/errors";
import { addresses } from "@/tests/support/contract";

/** The differences from the register, the catalogue or the specification's own lists. */
describe("the register", () => {
  it.each([
    { path: "/api/health", methods: ["GET", "HEAD", "OPTIONS"], caching: "no-store" },
    {
      path: "/api/site-banner",
      methods: ["GET", "HEAD", "OPTIONS"],
      caching: "public, max-age=15, s-maxage=15",
    },
    { path: "/api/entitlement", methods: ["GET", "HEAD", "OPTIONS"], caching: "private, no-store" },
    { path: "/api/credits/balance", methods: ["GET", "HEAD", "OPTIONS"], caching: "private, no-store" },
    { path: "/api/email/unsubscribe", methods: ["POST", "OPTIONS"], caching: "no-store" },
    { path: "/mcp", methods: ["POST", "OPTIONS"], caching: "no-store, no-transform" },
    { path: "/api/mcp", methods: ["POST", "OPTIONS"], caching: "no-store, no-transform" },
    { path: "/mcp/account", methods: ["POST", "OPTIONS"], caching: "no-store, no-transform" },
  ])("holds $path of the specification", (specified) => {
    expect(addresses).toContainEqual(specified);
  });
});

/** The codes of version 1: clients branch on them, so the list is closed. */
const codes = `
  not_found method_not_allowed signed_out trial_ended forbidden invalid_request invalid_token not_configured
  balance_unavailable credits_not_configured billing_not_configured paid_only checkout_failed portal_failed
  limit_required limit_failed invalid_signature fulfilment_failed unavailable upstream_failed too_large internal_error`;

it("the error catalogue holds the codes of version 1, each with its words", () => {
  expect(Object.keys(errorCatalogue).sort()).toEqual(codes.trim().split(/\s+/).sort());
  for (const { message, hint } of Object.values(errorCatalogue)) {
    expect(message).toMatch(/^[A-Z][^.]+\.$/);
    expect(hint).toMatch(/^[A-Z].+\.$/);
  }
});

const topLevel = `
  .ci .env.example .gitignore LICENSE README.md app biome.json e2e lib middleware.ts next.config.ts package-lock.json
  package.json playwright.config.ts public tests tsconfig.json vitest.config.ts`;

describe("the top level", () => {
  it("has these files and folders and no others", () => {
    const ignored = readFileSync(".gitignore", "utf8").split("\n");
    const isIgnored = (name: string) =>
      ignored.some(
        (line) => line.replace(/\/$/, "") === name || (line.startsWith("*") && name.endsWith(line.slice(1))),
      );
    const top = readdirSync(".").filter((name) => name !== ".git" && !isIgnored(name));
    expect(top.sort()).toEqual(topLevel.trim().split(/\s+/).sort());
    expect(existsSync(join(".ci", "run"))).toBe(true);
  });

  it("pins every dependency exactly", () => {
    const { dependencies, devDependencies } = JSON.parse(readFileSync("package.json", "utf8"));
    for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies })) {
      expect(version, name).toMatch(/^\d+\.\d+\.\d+$/);
    }
  });
});
