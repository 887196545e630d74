import { generateKeyPairSync } from "node:crypto";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { pagePolicy } from "@/lib/http/content-security-policy";
import { type Page, pages } from "@/lib/http/register/pages";

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

const isClerks = ({ loads }: Page) => loads.includes("clerk");

describe("with Clerk", () => {
  it.each(Object.values<Page>(pages).filter(isClerks))("$path may load what Clerk needs", (page) => {
    const policy = pagePolicy(page);
    expect(policy).toContain(
      "script-src 'self' https://clerk.office.example.com https://challenges.cloudflare.com",
    );
    expect(policy).toContain("connect-src 'self' https://clerk.office.example.com;");
    expect(policy).toContain("img-src 'self' data: https://img.clerk.com;");
    expect(policy).toContain("style-src 'self' 'unsafe-inline';");
    expect(policy).toContain("frame-src https://challenges.cloudflare.com; worker-src 'self' blob:");
  });

  it.each(Object.values<Page>(pages).filter((page) => !isClerks(page)))("$path has nothing of it", (page) => {
    expect(pagePolicy(page)).not.toMatch(/clerk|cloudflare|unsafe|https:/);
  });
});
