import { decodeJwt } from "jose";
import { beforeAll, describe, expect, it } from "vitest";
import { dayMs } from "@/lib/config/durations";
import { startService, startStage } from "@/tests/support/block";
import { Browser } from "@/tests/support/browser";
import { makeClock } from "@/tests/support/clock";
import { engines } from "@/tests/support/engines";
import { authorizePath, redeemCode, register } from "@/tests/support/oauth-libraries";
import { answerApp, connectDevice, deviceGrant } from "@/tests/support/owner";
import { Service } from "@/tests/support/service";

const email = "ceo@example.com";
const redirect = "http://127.0.0.1:51000/callback";
const path = "/oauth/register";

let from = 0;

describe.each(engines)("an app that registers itself, on $name", async (engine) => {
  const clock = makeClock();
  const stage = await startStage(engine);
  const service = await startService({ ...stage.environment, ...clock.environment });
  let browser: Browser;
  beforeAll(async () => {
    browser = await Browser.admit(service, email, "--plan", "licensed");
  });

  const registerNew = (client: object | string) => register(service, client, `127.9.0.${++from}`);
  const idOf = async (client: object = {}): Promise<string> =>
    JSON.parse((await registerNew({ redirect_uris: [redirect], ...client })).text).client_id;
  const addressFor = (client_id: string, redirect_uri = redirect) =>
    service.url + authorizePath(client_id, redirect_uri);
  const opens = async (client_id: string, redirect_uri?: string) =>
    (await browser.open(addressFor(client_id, redirect_uri).replace(service.url, ""))).status;

  it("finds the endpoint in the metadata, and becomes a public client with the name that it sent", async () => {
    const { text } = await service.ask("/.well-known/oauth-authorization-server");
    expect(JSON.parse(text).registration_endpoint).toBe(service.url + path);
    const answer = await registerNew({
      client_name: "Desk",
      redirect_uris: [redirect],
      token_endpoint_auth_method: "client_secret_post",
      scope: "everything",
      client_secret: "mine",
    });
    expect(answer.status).toBe(201);
    const client = JSON.parse(answer.text);
    expect(client).toMatchObject({
      client_name: "Desk",
      redirect_uris: [redirect],
      token_endpoint_auth_method: "none",
      grant_types: ["authorization_code", "refresh_token"],
    });
    expect(client).not.toHaveProperty("client_secret");
    const back = await answerApp(browser, service, addressFor(client.client_id));
    expect(new URL(back).searchParams.get("code")).toMatch(/./);
  });

  it.each([
    // Cursor registers like this; if one of the addresses were refused, its registration would fail.
    [
      "Cursor",
      "cursor://anysphere.cursor-mcp/oauth/callback",
      ["https://www.cursor.com/agents/mcp/oauth/callback", "http://localhost:8787/callback"],
    ],
    ["Visual Studio Code", "http://127.0.0.1:33418/", ["http://127.0.0.1/", "https://vscode.dev/redirect"]],
  ])("is let in as %s registers and asks", async (client_name, redirect_uri, others) => {
    const { status, text } = await registerNew({
      client_name,
      redirect_uris: [redirect_uri, ...others],
      token_endpoint_auth_method: "none",
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
    });
    expect(status).toBe(201);
    const asked = addressFor(JSON.parse(text).client_id, redirect_uri);
    const back = await answerApp(browser, service, asked);
    expect(back.startsWith(`${redirect_uri}?`)).toBe(true);
    expect(new URL(back).searchParams.get("code")).toMatch(/./);
  });

  // mistralai/mistral-vibe#872, coralogix/cx-cli#199: Windows' vault takes 2,560 bytes, of UTF-16, for all that is answered
  it("gets tokens that fit into what a client for Windows keeps secrets in, however much it has registered", async () => {
    const client_name = "Visual Studio Code";
    const uris = ["http://127.0.0.1:33418/", "http://localhost:33418/", "http://localhost/"];
    const hosts = ["vscode.dev", "insiders.vscode.dev"];
    const redirect_uris = [redirect, ...uris, ...hosts.map((host) => `https://${host}/redirect`)];
    const id = await idOf({ client_name, redirect_uris });
    const resource = `${service.url}/mcp/account`;
    const asked = `${addressFor(id)}&${new URLSearchParams({ resource })}`;
    const back = await answerApp(browser, service, asked);
    const { status, text } = await redeemCode(service, id, redirect, back);
    expect([status, text.length < 1150]).toEqual([200, true]);
    const { access_token, refresh_token } = JSON.parse(text);
    expect(decodeJwt(access_token)).not.toHaveProperty("client_id");
    // No other app can end its session by that token.
    const revoke = async (client_id: string) =>
      (await service.submit("/oauth/revoke", { client_id, token: access_token })).status;
    const grant = { client_id: id, grant_type: "refresh_token", refresh_token };
    const renew = async () => (await service.submit("/oauth/token", grant)).status;
    expect([await revoke(await idOf()), await renew()]).toEqual([400, 200]);
    expect([await revoke(id), await renew()]).toEqual([200, 400]);
  });

  it("may register a loopback address with * for any port, which the answer leaves out", async () => {
    const redirect_uris = ["http://127.0.0.1:*/callback", "https://desk.example:*/callback"];
    const { status, text } = await registerNew({ redirect_uris });
    expect(status).toBe(201);
    expect(JSON.parse(text).redirect_uris).toEqual(["http://127.0.0.1/callback"]);
    expect(await opens(JSON.parse(text).client_id)).toBe(303);
  });

  it("is granted device codes next to a redirect URI only where it asks for them", async () => {
    const asked = { redirect_uris: [redirect], grant_types: ["authorization_code", deviceGrant] };
    const { grant_types } = JSON.parse((await registerNew(asked)).text);
    expect(grant_types).toEqual(["authorization_code", "refresh_token", deviceGrant]);
  });

  // nightscout/nocturne#431, Abblix/Oidc.Server#280
  it("needs no redirect URI if it asks by device code, and then can't ask in a browser", async () => {
    const answer = await registerNew({ client_name: "Meter", grant_types: [deviceGrant] });
    expect(answer.status, answer.text).toBe(201);
    const { client_id, ...client } = JSON.parse(answer.text);
    expect(client).toMatchObject({
      redirect_uris: [],
      response_types: [],
      grant_types: ["refresh_token", deviceGrant],
    });
    const { access_token, refresh_token } = await connectDevice(browser, service, client_id);
    expect(await service.statusFor(access_token)).toBe(200);
    const grant = { client_id, grant_type: "refresh_token", refresh_token };
    expect((await service.submit("/oauth/token", grant)).status).toBe(200);
    expect(await opens(client_id)).toBe(400);
  });

  // anthropics/claude-code#84614, MoonshotAI/kimi-code#2606: an app whose owner comes back later keeps its id for good
  it("expires 210 days after it registered, or after an owner approved it last", async () => {
    const unused = await idOf();
    const used = await idOf();
    await answerApp(browser, service, addressFor(used));
    clock.pass(dayMs + 1000);
    await answerApp(browser, service, addressFor(used)); // from now on
    clock.pass(208 * dayMs);
    expect([await opens(unused), await opens(used)]).toEqual([303, 303]);
    clock.pass(dayMs);
    expect([await opens(unused), await opens(used)]).toEqual([400, 303]);
    clock.pass(dayMs);
    expect(await opens(used)).toBe(400);
    browser = await Browser.signIn(service, email);
  });

  it("is listed for the operator, and loses its access when the operator removes it", async () => {
    const client_id = await idOf({ client_name: "Desk" });
    const { access_token, refresh_token } = await connectDevice(browser, service, client_id);
    expect(await service.statusFor(access_token)).toBe(200);

    type Listed = { id: string; addedAt: string; forgottenAt: string };
    const listed = await service.adminJson<Listed[]>("connect", "list");
    const entry = listed.find(({ id }) => id === client_id);
    expect(entry).toMatchObject({ name: "Desk", redirectUris: [redirect], by: "itself" });
    const inDays = (Date.parse(entry?.forgottenAt ?? "") - Date.parse(entry?.addedAt ?? "")) / dayMs;
    expect(inDays, "from its approval").toBeCloseTo(210, 1);
    expect(await service.adminJson("connect", "remove", client_id)).toEqual({ removed: client_id });
    expect(await service.statusFor(access_token)).toBe(401);
    const grant = { client_id, grant_type: "refresh_token", refresh_token };
    const renewed = await service.submit("/oauth/token", grant);
    expect(JSON.parse(renewed.text).error).toBe("invalid_client");
    expect(await opens(client_id)).toBe(400);
    expect((await service.admin("connect", "remove", client_id)).code).toBe(1);
    const audit = await stage.query(`SELECT what, before FROM audit_entries WHERE whom = '${client_id}'`);
    expect(audit).toEqual([{ what: "connect remove", before: expect.stringContaining("Desk") }]);
  });

  it("has its own addresses alone, next to another that an owner approved, and stays when that is removed", async () => {
    const addresses = [redirect, "http://127.0.0.1:51000/other"] as const;
    const ids = [await idOf(), await idOf({ redirect_uris: [addresses[1]] })] as const;
    for (const n of [0, 1] as const) await answerApp(browser, service, addressFor(ids[n], addresses[n]));
    const opened = () =>
      Promise.all(addresses.map((address) => Promise.all(ids.map((id) => opens(id, address)))));
    expect(await opened()).toEqual([
      [303, 400],
      [400, 303],
    ]);
    await service.adminJson("connect", "remove", ids[0]);
    expect(await opened()).toEqual([
      [400, 400],
      [400, 303],
    ]);
    const listed = await service.adminJson<{ id: string }[]>("connect", "list");
    expect(ids.map((id) => listed.some((one) => one.id === id))).toEqual([false, true]);
  });

  it("keeps an address of 400 characters, and as many as its id has room for, to the byte", async () => {
    const start = "https://desk.example.com/";
    const ofLength = (characters: number) => start.padEnd(characters, "a");
    const keptOf = async (...redirect_uris: string[]) => {
      const { status, text } = await registerNew({ client_name: "Desk", redirect_uris });
      return status === 201 ? JSON.parse(text).redirect_uris.length : status;
    };
    expect([await keptOf(ofLength(400)), await keptOf(ofLength(401))]).toEqual([1, 400]);
    const two = [ofLength(400), ofLength(399)];
    const bytes = JSON.stringify({ client_name: "Desk", redirect_uris: [...two, start] }).length;
    const third = (length: number) => ofLength(start.length + length - bytes);
    expect([await keptOf(...two, third(1024)), await keptOf(...two, third(1025))]).toEqual([3, 2]);
  });

  it.each([
    ["no JSON", "{", "invalid_client_metadata"],
    ["no address", { client_name: "Desk" }, "invalid_redirect_uri"],
    ["null", "null", "invalid_client_metadata"],
    ["a list", [], "invalid_client_metadata"],
    ["no list of addresses", { redirect_uris: null }, "invalid_redirect_uri"],
    ["an empty list", { redirect_uris: [] }, "invalid_redirect_uri"],
    [
      "a wrong one beside a device code",
      { redirect_uris: ["x"], grant_types: [deviceGrant] },
      "invalid_redirect_uri",
    ],
  ])("is refused with %s", async (_, body, error) => {
    const { status, text } = await registerNew(body);
    expect(status).toBe(400);
    expect(JSON.parse(text).error).toBe(error);
  });

  it.each([
    ["javascript:alert(1)", "has a scheme that opens no app"],
    ["vbscript:x", "has a scheme that opens no app"],
    ["data:text/html,x", "has a scheme that opens no app"],
    ["file:///etc/passwd", "has a scheme that opens no app"],
    ["mailto:a@b.example", "has a scheme that opens no app"],
    ["ms-msdt:/id", "has a scheme that opens no app"],
    ["http://app.example/", "is HTTP, and not a loopback address"],
    ["http://127.0.0.2/", "is HTTP, and not a loopback address"],
    ["https://localhost/", "is a loopback address, and not HTTP"],
    ["https://app.example./", "has a dot at the end of its host"],
    ["https://a@app.example/", "has a user name"],
    ["/callback", "is not spelled as the URL standard does, or has a fragment, * or \\"],
    [`${service.url}/callback`, "is ours"],
    ["https://app.example/".padEnd(401, "x"), "has more than 400 characters"],
    [7, "is not a string"],
    [null, "is not a string"],
  ])("has an address left out that cannot be used, and is told why if none is left: %s", async (odd, why) => {
    const kept = JSON.parse((await registerNew({ redirect_uris: [odd, redirect, odd] })).text);
    expect(kept.redirect_uris).toEqual([redirect]);
    const refused = await registerNew({ redirect_uris: [odd] });
    expect([refused.status, JSON.parse(refused.text)]).toEqual([
      400,
      {
        error: "invalid_redirect_uri",
        error_description: `No redirect URI can be used: the first of redirect_uris ${why}.`,
      },
    ]);
  });

  it.each([
    "warp://mcp/oauth2callback",
    "windsurf://codeium.windsurf",
    "vscode://vscode.github-authentication/did-authenticate",
    "vscode-insiders://x/y",
    "workbuddy:/callback",
    "Zed://oauth/callback",
    "exp+studio://signed-in",
    "com.example.studio:/signed-in",
    "http://127.0.0.1:8787",
    "http://[::1]:8787",
    "http://localhost",
    "https://app.example",
    "https://app.example/".padEnd(400, "x"),
  ])("gets the answer at %s", async (uri) => {
    const { text } = await registerNew({ redirect_uris: [uri] });
    const { client_id, redirect_uris } = JSON.parse(text);
    expect(redirect_uris).toEqual([uri]);
    const back = await answerApp(browser, service, addressFor(client_id, uri));
    expect(back.toLowerCase().startsWith(uri.toLowerCase())).toBe(true);
    expect(new URL(back).searchParams.get("code")).toMatch(/./);
    expect((await redeemCode(service, client_id, uri, back)).status).toBe(200);
  });

  it("gets the answer at a host alone, with or without the slash of the URL standard, and as native too", async () => {
    for (const [uri, asked] of [
      ["http://127.0.0.1:8787", "http://127.0.0.1:9000/"],
      ["http://127.0.0.1:8787/", "http://127.0.0.1:9000"],
      ["https://app.example", "https://app.example/"],
      ["https://app.example/", "https://app.example"],
    ] as const)
      expect((await browser.open(authorizePath(await idOf({ redirect_uris: [uri] }), asked))).status).toBe(
        303,
      );
    expect(await opens("native", "http://127.0.0.1:8787")).toBe(303);
    expect(await opens("native", "http://127.0.0.1:8787/other")).toBe(400);
  });

  // slackapi/slack-skills-plugin#120
  it("gets the answer at another name of its computer, which an update of it may use", async () => {
    for (const [uri, asked] of [
      ["http://localhost:3118/callback", "http://127.0.0.1:3118/callback"],
      ["http://127.0.0.1/callback", "http://localhost:51000/callback"],
      ["http://localhost:8787", "http://[::1]:9000/"],
    ] as const) {
      const id = await idOf({ redirect_uris: [uri] });
      const back = await answerApp(browser, service, addressFor(id, asked));
      expect(back.startsWith(`${asked}?`), back).toBe(true);
      expect((await redeemCode(service, id, asked, back)).status).toBe(200);
      for (const other of [`${asked}x`, asked.replace("http:", "https:"), "http://127.0.0.2:3118/callback"])
        expect((await browser.open(authorizePath(id, other))).status, other).toBe(400);
    }
  });

  it("keeps ten addresses at most, as many as fit into its id, and one that is not in a list", async () => {
    const uris = Array.from({ length: 12 }, (_, n) => `https://app.example/${n}`);
    const registered = async (client: object) =>
      JSON.parse((await registerNew(client)).text).redirect_uris as string[];
    expect(await registered({ redirect_uris: [uris[0], ...uris] })).toEqual(uris.slice(0, 10));
    const long = uris.slice(0, 6).map((uri) => `${uri}?${"x".repeat(350)}`);
    expect(await registered({ redirect_uris: long })).toEqual(long.slice(0, 2));
    expect(await registered({ redirect_uris: redirect })).toEqual([redirect]);
  });

  it("keeps 80 characters of a name, and whatever else is odd in its metadata is not kept", async () => {
    const { status, text } = await registerNew({
      client_name: "\u{1F3E2}".repeat(100),
      redirect_uris: [redirect],
      logo_uri: "",
      contacts: null,
      grant_types: ["authorization_code", "implicit", "client_credentials"],
      response_types: ["code", "token"],
      scope: ["openid", "mcp:tools"],
      software_statement: "not.a.jwt",
      jwks: 7,
      application_type: "web",
      token_endpoint_auth_method: "private_key_jwt",
    });
    expect(status).toBe(201);
    const { client_id, client_id_issued_at, ...client } = JSON.parse(text);
    expect(client).toEqual({
      client_name: "\u{1F3E2}".repeat(80),
      redirect_uris: [redirect],
      application_type: "native",
      token_endpoint_auth_method: "none",
      response_types: ["code"],
      grant_types: ["authorization_code", "refresh_token"],
    });
  });

  it("is unknown under a forged or altered id, and after the operator has removed it", async () => {
    const client_id = await idOf();
    const altered = client_id.slice(0, -2) + (client_id.endsWith("AA") ? "BB" : "AA");
    for (const id of [altered, `app_${"a".repeat(200)}`, client_id.replace("app_", "apq_")]) {
      expect(await opens(id), id).toBe(400);
    }
    expect(await opens(client_id)).toBe(303);
    expect(await service.adminJson("connect", "remove", client_id)).toEqual({ removed: client_id });
    expect(await opens(client_id)).toBe(400);
    // Another spelling of the same bytes does not make another client.
    for (const id of [`${client_id}=`, `${client_id}.`, client_id.replace("app_", "app_.")]) {
      expect(await opens(id), id).toBe(400);
    }
    expect((await service.admin("connect", "remove", client_id)).code).toBe(1);
  });

  // Whether registration is off does not depend on the engine.
  if (engine === engines[0])
    it("finds no endpoint if registration is off, and is unknown if it registered before", async () => {
      const client_id = await idOf();
      const settings = { ...clock.environment, CONNECT_REGISTRATION: "off" };
      const off = await Service.start({ ...stage.environment, ...settings });
      await off.ready();
      const { status, text } = await off.submit(path, {});
      expect(status).toBe(404);
      expect(JSON.parse(text).error.code).toBe("not_found");
      const metadata = await off.ask("/.well-known/oauth-authorization-server");
      expect(JSON.parse(metadata.text)).not.toHaveProperty("registration_endpoint");
      expect((await off.ask(addressFor(client_id).replace(service.url, ""))).status).toBe(400);
      await off.stop();
    });
});
