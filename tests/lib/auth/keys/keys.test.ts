import { createPublicKey, verify } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { startService, startStage } from "@/tests/support/block";
import { Browser } from "@/tests/support/browser";
import { eventually } from "@/tests/support/databases";
import { engines } from "@/tests/support/engines";
import { Service } from "@/tests/support/service";

type Key = { kid: string; state: string; madeAt: string };

const decode = (part = "") => JSON.parse(Buffer.from(part, "base64url").toString());
const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString("base64url");
const headerOf = (token: string) => decode(token.split(".")[0]) as { alg: string; kid?: string };
const claimsOf = (token: string) => decode(token.split(".")[1]) as { iss: string; sub: string; sid: string };

/** Copies a program's token on the access page. */
async function copyToken(browser: Browser): Promise<string> {
  return JSON.parse((await browser.pressAtHome("/home/token")).text).token;
}

/** Makes a service refresh its ring at once, by a token with an unknown key id. */
async function showUnknownKey(service: Service, token: string): Promise<void> {
  const { iss } = claimsOf(token);
  const claims = { ...claimsOf(token), iss, exp: Date.now() / 1000 + 60 };
  expect(await service.statusFor(`${encode({ alg: "RS256", kid: "unknown" })}.${encode(claims)}.x`)).toBe(
    401,
  );
}

describe.each(engines)("the keys of two instances on $name", async (engine) => {
  const stage = await startStage(engine);
  const environment = { ...stage.environment, APP_URL: "http://localhost:3000" };
  const one = await startService(environment);
  const other = await startService(environment);
  await one.adminJson("account", "add", "ceo@example.com", "--plan", "licensed");
  const browser = await Browser.signIn(one, "ceo@example.com");

  const listKeys = () => one.adminJson<Key[]>("keys", "list");
  /** Makes the newest key sign now instead of in a minute. */
  const signWithNewest = () =>
    stage.query("UPDATE signing_keys SET signs_from_ms = made_at_ms WHERE verifies_until_ms IS NULL");

  it("are published for any origin, cacheable for half a minute, without private keys", async () => {
    const token = await copyToken(browser);
    const { status, headers, text } = await other.ask("/.well-known/jwks.json");
    expect(status).toBe(200);
    expect(headers["content-type"]).toBe("application/jwk-set+json");
    expect(headers["access-control-allow-origin"]).toBe("*");
    expect(headers["cache-control"]).toBe("public, max-age=30");
    const { keys } = JSON.parse(text);
    expect(keys).toEqual([
      { kty: "RSA", n: expect.any(String), e: "AQAB", kid: headerOf(token).kid, alg: "RS256", use: "sig" },
    ]);
    const publicKey = createPublicKey({ key: keys[0], format: "jwk" });
    const [header, claims, signature = ""] = token.split(".");
    const signed = Buffer.from(`${header}.${claims}`);
    expect(verify("sha256", signed, publicKey, Buffer.from(signature, "base64url"))).toBe(true);
  });

  it("are rotated twice under load, and no request gets a 401", async () => {
    const answers: Record<number, number> = {};
    const tokens = [await copyToken(browser)];
    let isOver = false;
    const load = [one, other, one, other].map(async (service, at) => {
      for (let sent = at; !isOver; sent++) {
        const status = await service.statusFor(tokens[sent % tokens.length] ?? "");
        answers[status] = (answers[status] ?? 0) + 1;
        await sleep(10); // so that many requests meet the rotation without slowing it down
      }
    });
    for (let rotation = 0; rotation < 2; rotation++) {
      const [signing] = tokens.slice(-1);
      await one.adminJson("keys", "rotate");
      await signWithNewest();
      // One instance signs with the new key at once; the other first sees it in a token.
      await showUnknownKey(one, signing ?? "");
      tokens.push(await copyToken(browser));
      expect(headerOf(tokens.at(-1) ?? "").kid).not.toBe(headerOf(signing ?? "").kid);
      expect(claimsOf(tokens.at(-1) ?? "").iss).toBe(claimsOf(signing ?? "").iss);
      await browser.post("/sign-in/renew");
      tokens.push(browser.valueOf("__session"));
    }
    isOver = true;
    await Promise.all(load);
    expect(Object.keys(answers)).toEqual(["200"]);
    const states = (await listKeys()).map(({ state }) => state.split(" ")[0]);
    expect(states).toEqual(["verifies", "verifies", "signs"]);
    await showUnknownKey(other, tokens[0] ?? "");
    const published = JSON.parse((await other.ask("/.well-known/jwks.json")).text).keys;
    expect(published).toHaveLength(3);
  });

  it("are refused from the next request on when revoked, on every instance, and browsers stay signed in", async () => {
    const token = await copyToken(browser);
    for (const service of [one, other]) expect(await service.statusFor(token)).toBe(200);
    const { kid = "" } = headerOf(token);
    await one.adminJson("keys", "revoke", kid);
    expect(await stage.query(`SELECT sealed_key FROM signing_keys WHERE kid = '${kid}'`)).toEqual([
      { sealed_key: null },
    ]);
    for (const service of [one, other]) {
      expect(await service.statusFor(token)).toBe(401);
      expect(await service.statusFor(token)).toBe(401);
    }
    expect((await listKeys()).find((key) => key.kid === kid)?.state).toMatch(/^revoked /);
    await expect
      .poll(async () => {
        await browser.post("/sign-in/renew");
        return headerOf(browser.valueOf("__session")).kid;
      })
      .not.toBe(kid);
    for (const service of [one, other])
      expect(await service.statusFor(browser.valueOf("__session"))).toBe(200);
    const { text } = await one.ask("/.well-known/jwks.json");
    expect(text).not.toContain(kid);
  });

  it("return 503 while the ring is unavailable, never 401, and then 200 again", async () => {
    const token = await copyToken(browser);
    await stage.query("ALTER TABLE signing_keys RENAME TO signing_keys_away");
    for (const service of [one, other]) expect(await service.statusFor(token)).toBe(503);
    await stage.query("ALTER TABLE signing_keys_away RENAME TO signing_keys");
    for (const service of [one, other]) expect(await service.statusFor(token)).toBe(200);
    // The instances write their log after the response.
    for (const service of [one, other]) await eventually(() => expect(service.takeErrors()).not.toEqual([]));
  });
});

describe.each(engines)("an APP_SECRET that changes, on $name", (engine) => {
  it("leaves the keys unchanged if the previous secret is set, and is an outage otherwise", async () => {
    const stage = await engine.prepare({ isEmpty: true });
    const [first, second] = ["f".repeat(32), "s".repeat(33)];
    const before = await Service.make({ ...stage.environment, APP_SECRET: first });
    await before.adminJson("migrate");
    await before.adminJson("webhook", "add", "https://systems.example.com/");
    const noServer = { SMTP_URL: "smtp://127.0.0.1:1", EMAIL_FROM: "office@example.com", LOG_LEVEL: "error" };
    const mailing = { ...before.environment, ...noServer, APP_URL: "http://localhost:3000" };
    await (await Service.make(mailing)).admin("invite", "invited@example.com");
    await before.adminJson("account", "add", "ceo@example.com", "--plan", "licensed");
    const token = await before.token("ceo@example.com");
    await before.unsubscribePath("ceo@example.com");

    const environment = { ...stage.environment, APP_SECRET: second };
    const untold = await Service.start(environment);
    expect(await untold.statusFor(token)).toBe(503);
    expect((await untold.ask("/ready")).status).toBe(503);
    expect((await untold.admin("invite", "new@example.com")).code).toBe(1);
    expect(await stage.query("SELECT id FROM invitations WHERE email = 'new@example.com'")).toEqual([]);
    expect(await untold.adminJson("keys", "list")).toMatchObject([
      { state: "not readable with this APP_SECRET" },
    ]);
    const { code, stdout } = await untold.admin("check");
    expect(code).toBe(1);
    expect(stdout).toContain("as APP_SECRET_PREVIOUS, or revoke the keys");
    expect(stdout).toContain(
      "encrypted with another APP_SECRET: the keys of unsubscribe links; the secrets of webhooks; waiting mails (1), the last of which expires at 20",
    );

    const readSealed = () => stage.query("SELECT sealed_key FROM signing_keys");
    const sealed = await readSealed();
    const told = await Service.make({ ...environment, APP_SECRET_PREVIOUS: first });
    const secrets = async () => (await told.check("secrets"))?.detail;
    const only = "only APP_SECRET_PREVIOUS opens:";
    expect(await secrets()).toBe(`${only} keys, secrets of webhooks, waiting mails (1)`);
    await stage.query("DELETE FROM sign_in_mails");
    await told.run();
    expect(await told.statusFor(token)).toBe(200);
    await expect.poll(readSealed).not.toEqual(sealed);
    await expect.poll(secrets).toBe(`${only} codes and registrations of apps of the last day`);
    await stage.query("UPDATE audit_entries SET at_ms = at_ms - 86400001");
    expect(await secrets()).toBe("APP_SECRET_PREVIOUS can be unset");
    // A resealed key can be decrypted without the previous secret.
    await told.stop();
    await showUnknownKey(untold, token);
    expect(await untold.statusFor(token)).toBe(200);
    await untold.stop({ expectErrors: true });
    await stage.clear();
  });
});
