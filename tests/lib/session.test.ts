import { generateKeyPairSync, sign } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { operations } from "@/lib/api/operations";
import { Service } from "@/tests/support/service";

const keys = generateKeyPairSync("rsa", { modulusLength: 2048 });
const routes = [operations.entitlement.path, operations.creditsBalance.path];

function mint(changed: object = {}, key = keys.privateKey, header: object = {}): string {
  const nowSeconds = Math.floor(Date.now() / 1000);
  const claims = {
    iss: "https://clerk.example.com",
    sub: "user_2ceo",
    sid: "sess_1",
    azp: "http://localhost:3000",
  };
  const times = { iat: nowSeconds, nbf: nowSeconds - 10, exp: nowSeconds + 60 };
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString("base64url");
  const signed = `${encode({ alg: "RS256", kid: "ins_1", typ: "JWT", ...header })}.${encode({ ...claims, ...times, ...changed })}`;
  return `${signed}.${sign("sha256", Buffer.from(signed), key).toString("base64url")}`;
}

describe("sessions of Clerk", () => {
  let service: Service;

  beforeAll(async () => {
    service = await Service.start({
      APP_URL: "http://localhost:3000",
      CLERK_PUBLISHABLE_KEY: `pk_test_${Buffer.from("clerk.example.com$").toString("base64")}`,
      CLERK_SECRET_KEY: "sk_test_x",
      CLERK_JWT_KEY: keys.publicKey.export({ type: "spki", format: "pem" }).toString(),
    });
    await service.adminJson(
      "account",
      "add",
      "ceo@example.com",
      "--plan",
      "licensed",
      "--subject",
      "user_2ceo",
    );
  });
  afterAll(async () => {
    await service.stop();
  });

  it("lets a token in by header and by cookie, from a browser and from an app without an origin", async () => {
    for (const token of [mint(), mint({ azp: undefined })]) {
      for (const headers of [{ Authorization: `Bearer ${token}` }, { Cookie: `__session=${token}` }]) {
        for (const path of routes) expect((await service.ask(path, { headers })).status).toBe(200);
      }
    }
  });

  const foreign = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;
  it.each([
    ["forged", () => mint({}, foreign)],
    ["expired", () => mint({ exp: Math.floor(Date.now() / 1000) - 6 })],
    ["of a foreign party", () => mint({ azp: "https://evil.example" })],
    ["of another issuer", () => mint({ iss: "https://clerk.evil.example" })],
    ["of a JWT template", () => mint({}, keys.privateKey, { cat: "cl_B7d4PD222AAA" })],
    ["pending", () => mint({ sts: "pending" })],
    ["of a machine", () => mint({ sub: "mch_1" })],
    ["an API key", () => "ak_0123456789abcdef"],
    ["an OAuth token", () => "oat_0123456789abcdef"],
    ["a machine token", () => "mt_0123456789abcdef"],
  ])("answers 401 to a token that is %s, with no redirect", async (_, token) => {
    for (const headers of [{ Authorization: `Bearer ${token()}` }, { Cookie: `__session=${token()}` }]) {
      for (const path of routes) {
        const answer = await service.ask(path, { headers: { ...headers, Accept: "text/html" } });
        expect(answer.status).toBe(401);
        expect(answer.headers).not.toHaveProperty("location");
        expect(answer.headers["www-authenticate"]).toBe(
          'Bearer realm="corner-office", error="invalid_token"',
        );
      }
    }
  });

  it("answers 403 to a user who has no account here", async () => {
    const headers = { Authorization: `Bearer ${mint({ sub: "user_2stranger" })}` };
    const { status, text } = await service.ask(operations.entitlement.path, { headers });
    expect(status).toBe(403);
    expect(JSON.parse(text)).toMatchObject({ ok: false, status: "invalid", error: { code: "forbidden" } });
  });

  it("mints no token of its own", async () => {
    expect((await service.admin("token", "ceo@example.com")).code).toBe(1);
  });
});
