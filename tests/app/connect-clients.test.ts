import { createServer, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Browser } from "@/tests/support/browser";
import { certificate, trust } from "@/tests/support/certificate";
import { type Engine, engines, type Stage } from "@/tests/support/engines";
import { giveBack, lend } from "@/tests/support/lent-service";
import { authorizePath } from "@/tests/support/oauth-libraries";
import { answerDevice, answerShown } from "@/tests/support/owner";
import { Service } from "@/tests/support/service";

const email = "ceo@example.com";
const redirect = "com.example.studio:/signed-in";

let connections = 0;
/** Another program's server on this machine. */
const foreignServer = createServer().on("connection", () => connections++);
let foreignPort: number;
beforeAll(async () => {
  foreignPort = await listen(foreignServer);
});
afterAll(() => close(foreignServer));

describe.each(engines)("the clients of the authorization server on $name", (engine) => {
  let stage: Stage;
  let service: Service;
  let browser: Browser;

  beforeAll(async () => {
    ({ stage, service } = await lend(engine));
    await service.adminJson("account", "add", email, "--plan", "licensed");
    browser = await Browser.signIn(service, email);
  });
  afterAll(() => giveBack(service));

  const ask = (client_id: string, redirect_uri: string) =>
    browser.open(authorizePath(client_id, redirect_uri));

  it("are added, listed and removed by the operator, and the audit records each change", async () => {
    const client = {
      id: "desk",
      name: "Desk",
      redirectUris: ["http://127.0.0.1/callback", "https://desk.example/a"],
    };
    expect(await service.adminJson("connect", "add", client.id, client.name, ...client.redirectUris)).toEqual(
      client,
    );
    expect(await service.adminJson("connect", "list")).toEqual([
      { ...client, by: "operator", addedAt: expect.any(String), forgottenAt: null },
    ]);
    const again = await service.admin("connect", "add", client.id, "Other", redirect);
    expect(again.code).toBe(1);
    expect(await service.adminJson("connect", "remove", client.id)).toEqual({ removed: client.id });
    expect((await service.admin("connect", "remove", client.id)).code).toBe(1);
    expect(await service.adminJson("connect", "list")).toEqual([]);
    const audit = await stage.query(
      "SELECT what, whom FROM audit_entries WHERE whom = 'desk' ORDER BY at_ms",
    );
    expect(audit.map(({ what }) => what)).toEqual(["connect add", "connect remove"]);
  });

  it.each(["http://office.example.com/callback", "javascript:alert(1)", "studio:/callback"])(
    "take no answer at %s",
    async (uri) => {
      const { code, stderr } = await service.admin("connect", "add", "odd", "Odd", uri);
      expect(code).toBe(2);
      expect(stderr).toContain("It must be HTTPS, a loopback address or a scheme");
      expect(await service.adminJson("connect", "list")).toEqual([]);
    },
  );

  it("that were added are shown by name, and get the answer at their own scheme", async () => {
    await service.adminJson("connect", "add", "studio", "Studio for iPhone", redirect);
    expect((await ask("studio", redirect)).headers.location).toMatch(/\/connect$/);
    const page = await browser.open("/connect");
    expect(page.text).toContain("Studio for iPhone");
    expect(page.text).toContain("<strong>com.example.studio:</strong>");
    await answerShown(browser);
    const back = String((await browser.open("/oauth/resume")).headers.location);
    expect(back.startsWith(`${redirect}?`)).toBe(true);
    const other = await ask("studio", `${redirect}/`);
    expect(other.status, "an address that differs by a byte").toBe(400);
  });

  it("that were removed get no tokens, and their tokens are refused", async () => {
    const { device_code, user_code } = JSON.parse(
      (await service.submit("/oauth/device", { client_id: "studio", scope: "account:read" })).text,
    );
    await answerDevice(browser, user_code);
    const redeem = async (fields: Record<string, string>) =>
      JSON.parse((await service.submit("/oauth/token", { client_id: "studio", ...fields })).text);
    const grant_type = "urn:ietf:params:oauth:grant-type:device_code";
    const { access_token, refresh_token } = await redeem({ grant_type, device_code });
    expect(await service.statusFor(access_token)).toBe(200);
    // An attempt that failed before it had ended the sessions can be repeated.
    await stage.query("DELETE FROM connect_clients WHERE id = 'studio'");
    await service.adminJson("connect", "remove", "studio");
    expect(await service.statusFor(access_token)).toBe(401);
    expect((await redeem({ grant_type: "refresh_token", refresh_token })).error).toBe("invalid_client");
    const { status, headers } = await ask("studio", redirect);
    expect(status).toBe(400);
    expect(headers).not.toHaveProperty("location");
  });
});

describe("clients with a metadata document at a listed address", () => {
  let stage: Stage;
  let service: Service;
  let document: Server;
  let client_id: string;
  const heard: string[] = [];

  beforeAll(async () => {
    // The refusal does not depend on the engine.
    stage = await (engines[0] as Engine).prepare();
    document = createTlsServer(certificate(), (incoming, outgoing) => {
      heard.push(incoming.url ?? "");
      outgoing.setHeader("content-type", "application/json");
      outgoing.end(JSON.stringify({ client_id, client_name: "Inside", redirect_uris: [redirect] }));
    });
    const host = `apps.example.com:${await listen(document)}`;
    client_id = `https://${host}/c.json`;
    service = await Service.start({
      ...stage.environment,
      CONNECT_CLIENTS: client_id,
      NODE_OPTIONS: "--import ./tests/support/names.mjs",
      TEST_NAME: "apps.example.com",
      NODE_EXTRA_CA_CERTS: trust(),
    });
  });
  afterAll(async () => {
    await service.stop({ expectErrors: true });
    await close(document);
    await stage.clear();
  });

  it("are fetched only from that address, and never from this machine", () => expectNeverFetched(service));

  it("are refused if the host is a name of this machine", async () => {
    heard.length = 0;
    // Any other service on that machine would read the request and trust its Host header.
    await service.execute(["-e", `fetch("${client_id}")`]);
    expect(heard).toEqual(["/c.json"]);
    await expectRefused(service, client_id);
    expect(heard, "and it was asked nothing").toHaveLength(1);
  });
});

/** Sends requests of clients whose documents the service must not fetch, some of them on this machine. */
async function expectNeverFetched(service: Service): Promise<void> {
  connections = 0;
  for (const client_id of [
    `https://127.0.0.1:${foreignPort}/c.json`,
    `https://localhost:${foreignPort}/c.json`,
    "https://169.254.169.254/c.json",
    "https://evil.example/c.json",
    "file:///etc/passwd",
  ]) {
    await expectRefused(service, client_id);
  }
  expect(connections).toBe(0);
}

async function expectRefused(service: Service, client_id: string): Promise<void> {
  const query = new URLSearchParams({ client_id, response_type: "code", redirect_uri: redirect });
  const { status, headers } = await service.ask(`/oauth/authorize?${query}`);
  expect(status, client_id).toBe(400);
  expect(headers).not.toHaveProperty("location");
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

async function close(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}
