import { createServer, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { borrowService, startService, startStage } from "@/tests/support/block";
import { Browser } from "@/tests/support/browser";
import { certificate, trust } from "@/tests/support/certificate";
import { type Engine, engines } from "@/tests/support/engines";
import { authorizePath } from "@/tests/support/oauth-libraries";
import { answerShown, connectDevice } from "@/tests/support/owner";
import type { Service } from "@/tests/support/service";

const email = "ceo@example.com";
const redirect = "com.example.studio:/signed-in";

let connections = 0;
/** Another program's server on this machine. */
const foreignServer = createServer().on("connection", () => connections++);
const foreignPort = await listen(foreignServer);

describe.each(engines)("the clients of the authorization server on $name", async (engine) => {
  const { stage, service } = await borrowService(engine);
  let browser: Browser;
  beforeAll(async () => {
    browser = await Browser.admit(service, email, "--plan", "licensed");
  });

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
    const stderr = expect.stringContaining("There is already a client with this id. Remove it first");
    expect(again).toMatchObject({ code: 1, stderr });
    expect(await service.adminJson("connect", "remove", client.id)).toEqual({ removed: client.id });
    expect((await service.admin("connect", "remove", client.id)).code).toBe(1);
    expect(await service.adminJson("connect", "list")).toEqual([]);
    const audit = await stage.query(
      "SELECT what, whom FROM audit_entries WHERE whom = 'desk' ORDER BY at_ms",
    );
    expect(audit.map(({ what }) => what)).toEqual(["connect add", "connect remove"]);
  });

  it.each([
    ["http://office.example.com/callback", "It must be HTTPS, a loopback address or a scheme"],
    ["javascript:alert(1)", "It must be HTTPS, a loopback address or a scheme"],
    ["ms-settings:privacy", "It must be HTTPS, a loopback address or a scheme"],
    ["https://a@app.example/", "in its canonical spelling"],
  ])("take no answer at %s", async (uri, words) => {
    const { code, stderr } = await service.admin("connect", "add", "odd", "Odd", uri);
    expect([code, stderr]).toEqual([2, expect.stringContaining(words)]);
    expect(await service.adminJson("connect", "list")).toEqual([]);
  });

  it("that were added are shown by name, and get the answer at their own scheme", async () => {
    await service.adminJson("connect", "add", "studio", "Studio for iPhone", redirect);
    expect((await ask("studio", redirect)).headers.location).toMatch(/\/connect\?request=[\w-]{12}$/);
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
    const { access_token, refresh_token } = await connectDevice(browser, service, "studio");
    expect(await service.statusFor(access_token)).toBe(200);
    // An attempt that failed before it had ended the sessions can be repeated.
    await stage.query("DELETE FROM connect_clients WHERE id = 'studio'");
    await service.adminJson("connect", "remove", "studio");
    expect(await service.statusFor(access_token)).toBe(401);
    const grant = { client_id: "studio", grant_type: "refresh_token", refresh_token };
    const renewed = await service.submit("/oauth/token", grant);
    expect(JSON.parse(renewed.text).error).toBe("invalid_client");
    const { status, headers } = await ask("studio", redirect);
    expect(status).toBe(400);
    expect(headers).not.toHaveProperty("location");
  });
});

describe("clients with a metadata document at a listed address", async () => {
  const heard: string[] = [];
  const document = createTlsServer(certificate(), (incoming, outgoing) => {
    heard.push(incoming.url ?? "");
    outgoing.setHeader("content-type", "application/json");
    outgoing.end(JSON.stringify({ client_id, client_name: "Inside", redirect_uris: [redirect] }));
  });
  const client_id = `https://apps.example.com:${await listen(document)}/c.json`;
  // The refusal does not depend on the engine.
  const stage = await startStage(engines[0] as Engine);
  const settings = {
    CONNECT_CLIENTS: client_id,
    NODE_OPTIONS: "--import ./tests/support/names.mjs",
    TEST_NAME: "apps.example.com",
    NODE_EXTRA_CA_CERTS: trust(),
  };
  const service = await startService({ ...stage.environment, ...settings }, { expectErrors: true });

  it("are fetched only from that address, and never from this machine", async () => {
    connections = 0;
    for (const client_id of [
      `https://127.0.0.1:${foreignPort}/c.json`,
      `https://localhost:${foreignPort}/c.json`,
      "https://169.254.169.254/c.json",
      "https://evil.example/c.json",
      "file:///etc/passwd",
    ])
      await expectRefused(service, client_id);
    expect(connections).toBe(0);
  });

  it("are refused if the host is a name of this machine", async () => {
    heard.length = 0;
    // Any other service on that machine would read the request and trust its Host header.
    await service.execute(["-e", `fetch("${client_id}")`]);
    expect(heard).toEqual(["/c.json"]);
    await expectRefused(service, client_id);
    expect(heard, "and it was asked nothing").toHaveLength(1);
  });
});

async function expectRefused(service: Service, client_id: string): Promise<void> {
  const query = new URLSearchParams({ client_id, response_type: "code", redirect_uri: redirect });
  const { status, headers } = await service.ask(`/oauth/authorize?${query}`);
  expect(status, client_id).toBe(400);
  expect(headers).not.toHaveProperty("location");
}

/** Listens until this file ends. */
async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  afterAll(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}
