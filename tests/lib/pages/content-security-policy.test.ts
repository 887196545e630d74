import { generateKeyPairSync } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { renderedPagePolicy } from "@/lib/pages/content-security-policy";

const { publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const environment = {
  NODE_ENV: "production",
  APP_URL: "https://office.example.com",
  CLERK_PUBLISHABLE_KEY: `pk_test_${Buffer.from("clerk.office.example.com$").toString("base64")}`,
  CLERK_SECRET_KEY: "sk_test_x",
  CLERK_WEBHOOK_SIGNING_SECRET: `whsec_${Buffer.from("w".repeat(24)).toString("base64")}`,
  CLERK_JWT_KEY: publicKey.export({ type: "spki", format: "pem" }).toString(),
};

beforeAll(() => {
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
});
afterAll(() => vi.unstubAllEnvs());

describe("with Clerk", () => {
  it.each(["/sign-in", "/invitation", "/home"])("%s may load what Clerk needs", (path) => {
    const policy = renderedPagePolicy(path) ?? "";
    expect(policy).toMatch(
      /script-src 'self' 'nonce-[^']+' https:\/\/clerk\.office\.example\.com https:\/\/challenges\.cloudflare\.com;/,
    );
    expect(policy).toContain("connect-src 'self' https://clerk.office.example.com;");
    expect(policy).toContain("img-src 'self' data: https://img.clerk.com;");
    expect(policy).toContain("style-src 'self' 'unsafe-inline';");
    expect(policy).toContain("frame-src https://challenges.cloudflare.com; worker-src 'self' blob:");
  });

  it.each(["/", "/waitlist", "/unsubscribe", "/docs/search"])("%s has nothing of it", (path) => {
    const policy = renderedPagePolicy(path);
    expect(policy).toMatch(/script-src 'self' 'nonce-[^']+';/);
    expect(policy).not.toMatch(/clerk|unsafe/);
  });

  it.each([
    "/docs",
    "/docs/api/errors",
    "/sign-in-else",
    "/api/health",
    "/mcp",
    "/hooks/clerk",
    "/openapi.json",
  ])("%s is not rendered for a request", (path) => {
    expect(renderedPagePolicy(path)).toBeUndefined();
  });
});
