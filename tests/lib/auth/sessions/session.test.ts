import { generateKeyPairSync } from "node:crypto";
import { afterAll, describe, expect, it } from "vitest";
import { operations } from "@/lib/http/register/operations";
import { startService } from "@/tests/support/block";
import { ClerkInstance } from "@/tests/support/clerk-instance";
import { makeClock } from "@/tests/support/clock";

const routes = Object.values(operations)
  .filter(({ access }) => access === "session")
  .map(({ path }) => path);

describe("sessions of Clerk", async () => {
  const clock = makeClock();

  const clerk = await ClerkInstance.start();
  afterAll(() => clerk.stop());
  const service = await startService({ ...clerk.environment, ...clock.environment });
  const terms = ["--plan", "licensed", "--subject", "user_2ceo"];
  await service.adminJson("account", "add", "ceo@example.com", ...terms);

  it("accepts a token in the header and in the cookie, from a browser and from an app without an origin", async () => {
    for (const token of [clerk.mint(), clerk.mint({ azp: undefined })]) {
      for (const headers of [{ Authorization: `Bearer ${token}` }, { Cookie: `__session=${token}` }]) {
        for (const path of routes) expect((await service.ask(path, { headers })).status).toBe(200);
      }
    }
  });

  it("refuses an expired token that it has cached", async () => {
    const headers = { Authorization: `Bearer ${clerk.mint({ exp: Math.floor(Date.now() / 1000) + 60 })}` };
    const status = async () => (await service.ask(operations.entitlement.path, { headers })).status;
    expect(await status()).toBe(200);
    clock.pass(66_000);
    const past = await status();
    clock.pass(-66_000);
    expect(past).toBe(401);
  });

  const foreign = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;
  it.each([
    ["forged", () => clerk.mint({}, { key: foreign })],
    ["expired", () => clerk.mint({ exp: Math.floor(Date.now() / 1000) - 6 })],
    ["of another issuer", () => clerk.mint({ iss: "https://clerk.evil.example" })],
    ["of a foreign party", () => clerk.mint({ azp: "https://evil.example" })],
    ["an API key", () => "ak_0123456789abcdef"],
  ])("answers 401 to a token that is %s, with no redirect and no call to Clerk", async (_, token) => {
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
    expect(clerk.requests).toEqual([]);
  });
});
