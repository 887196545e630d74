import { afterAll, expect, it } from "vitest";
import { Authenticator } from "@/tests/support/authenticator";
import { startService } from "@/tests/support/block";
import { Browser } from "@/tests/support/browser";
import { startOutside } from "@/tests/support/outside";
import { add, ask, signInWith } from "@/tests/support/passkeys";
import { unconfigured } from "@/tests/support/unconfigured";

/* A service whose address has moved, and whose passkeys belong to the host that it had before. */

const email = "ceo@example.com";
const before = "old.example.com";
const address = `https://${before}/.well-known/webauthn`;
const documents: Record<string, object> = {};

const outside = await startOutside(documents);
afterAll(outside.stop);
const service = await startService({ ...outside.environment, SIGN_IN: "local", PASSKEY_HOST: before });

it("PASSKEY_HOST lists APP_URL as a related origin for any origin, also under the host from before", async () => {
  for (const headers of [{}, { host: before }]) {
    const answer = await service.ask("/.well-known/webauthn", { headers });
    expect(answer.status).toBe(200);
    expect(answer.headers["content-type"]).toBe("application/json");
    expect(JSON.parse(answer.text)).toEqual({ origins: [service.url] });
  }
});

it("tells password managers under either host where passkeys are added and removed (W3C Passkey Endpoints)", async () => {
  const page = `${service.url}/home/access#ways`;
  for (const headers of [{}, { host: before }]) {
    const answer = await service.ask("/.well-known/passkey-endpoints", { headers });
    expect([answer.status, answer.headers["content-type"]]).toEqual([200, "application/json"]);
    expect(JSON.parse(answer.text)).toEqual({ enroll: page, manage: page });
  }
  expect((await (await unconfigured()).ask("/.well-known/passkey-endpoints")).status).toBe(404);
});

it("PASSKEY_HOST is the host for which passkeys are asked and added, on pages at APP_URL alone", async () => {
  const authenticator = new Authenticator(service.url);
  const owner = await Browser.admit(service, email, "--plan", "licensed");
  expect((await add(owner, authenticator)).status).toBe(204);
  const browser = new Browser(service);
  expect(await ask(browser)).toMatchObject({ rpId: before });
  expect((await signInWith(browser, authenticator)).status).toBe(200);
  expect(await browser.status()).toBe(200);
  const { text } = await browser.open("/home/access");
  expect(text).toContain(`{&quot;rpId&quot;:&quot;${before}&quot;`);
  expect(text).not.toContain("works only there");
  for (const lies of [{ origin: `https://${before}` }, { rpId: new URL(service.url).hostname }])
    expect((await signInWith(new Browser(service), authenticator, lies)).status).toBe(400);
});

it("PASSKEY_HOST is checked: that host has to list APP_URL", async () => {
  const look = () => service.check("passkeys");
  const missing = {
    works: true,
    level: "warning",
    detail: `browsers are not told at ${address} that ${service.url} may use them`,
    remedy: `Have ${before} answer there with {"origins":["${service.url}"]}, by https and without a redirect.`,
  };
  expect(await look()).toMatchObject(missing);
  documents[address] = { origins: ["https://other.example.com"] };
  expect(await look()).toMatchObject(missing);
  documents[address] = { origins: [service.url] };
  expect(await look()).toMatchObject({ level: "fine", detail: `for ${before}` });
});

it("lists no related origins unless passkeys belong to another host", async () => {
  expect((await (await unconfigured()).ask("/.well-known/webauthn")).status).toBe(404);
});
