import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { borrowService } from "@/tests/support/block";
import { Browser } from "@/tests/support/browser";
import { engines } from "@/tests/support/engines";
import { postLegacy } from "@/tests/support/mcp";
import { authorizePath, redeemCode, redirectUri } from "@/tests/support/oauth-libraries";
import { answerApp, answerDevice, deviceGrant } from "@/tests/support/owner";
import type { Answer } from "@/tests/support/service";

/* What apps ask for: scopes and resources, as clients of other services send them. */

const email = "ceo@example.com";

type Fields = Record<string, string>;
type Tokens = { access_token: string; refresh_token: string; scope: string };

describe.each(engines)("an app, on $name", async (engine) => {
  const { service } = await borrowService(engine);
  const { url } = service;
  let owner: Browser;
  beforeAll(async () => {
    await service.adminJson("account", "add", email, "--plan", "licensed");
  });

  // Forms are limited by browser.
  beforeEach(async () => {
    owner = await Browser.signIn(service, email);
  });

  const read = ({ status, text }: Answer): Tokens => {
    expect(status, text).toBe(200);
    return JSON.parse(text);
  };
  const byCode = async (more: Fields, atToken: Fields = {}) => {
    const back = await answerApp(owner, service, url + authorizePath("native", redirectUri, more));
    expect(new URL(back).searchParams.get("error"), back).toBe(null);
    return redeemCode(service, "native", redirectUri, back, atToken);
  };
  const byDevice = async (more: Fields, atToken: Fields = {}) => {
    const client_id = "native";
    const { user_code, device_code } = JSON.parse(
      (await service.submit("/oauth/device", { client_id, ...more })).text,
    );
    await answerDevice(owner, user_code);
    const grant = { client_id, grant_type: deviceGrant, device_code };
    return service.submit("/oauth/token", { ...grant, ...atToken });
  };
  const refresh = (refresh_token: string, more: Fields) =>
    service.submit("/oauth/token", {
      client_id: "native",
      grant_type: "refresh_token",
      refresh_token,
      ...more,
    });
  /** Where a token is accepted. */
  const reach = async ({ access_token }: Tokens) => {
    const message = { method: "tools/call", params: { name: "get_entitlement", arguments: {} } };
    const headers = { authorization: `Bearer ${access_token}` };
    const at = ["/mcp", "/api/mcp", "/mcp/account"].map((path) =>
      postLegacy(service, message, { path, headers }),
    );
    const statuses = (await Promise.all(at)).map(({ status }) => status);
    expect(new Set(statuses).size, "one MCP server").toBe(1);
    return { api: await service.statusFor(access_token), mcp: statuses[0] };
  };

  describe.each([
    ["in a browser", byCode],
    ["on a device", byDevice],
  ])("%s", (_, connect) => {
    it.each([
      "openid profile email",
      "offline_access",
      "mcp:tools",
      "read write",
      "claudeai",
      "account:read offline_access",
      "account:write",
      " ",
      "",
      'a"b \\c é',
    ])("that asks for the scope %j gets ours, is told so, and again when it renews", async (scope) => {
      const tokens = read(await connect({ scope }, { scope }));
      expect(tokens.scope).toBe("account:read");
      const renewed = read(await refresh(tokens.refresh_token, { scope }));
      expect(renewed.scope).toBe("account:read");
      expect(await reach(renewed)).toEqual({ api: 200, mcp: 200 });
    });

    it("may send parameters without a value, which count as left out (RFC 6749 §3.1)", async () => {
      const empty = { resource: "", state: "", response_mode: "", prompt: "", dpop_jkt: "" };
      const tokens = read(await connect(empty, { resource: "", client_secret: "" }));
      expect(await reach(tokens)).toEqual({ api: 200, mcp: 200 });
      const renewed = read(await refresh(tokens.refresh_token, { resource: "", scope: "" }));
      expect(await reach(renewed)).toEqual({ api: 200, mcp: 200 });
    });

    it("by HEAD gets the status of a GET, as previews of links ask", async () => {
      for (const path of ["/oauth/authorize", "/oauth/authorize?client_id=gone", "/oauth/resume?request=x"]) {
        const [got, head] = await Promise.all([service.ask(path), service.ask(path, { method: "HEAD" })]);
        expect([head.status, head.headers["content-length"], head.text], path).toEqual([
          got.status,
          got.headers["content-length"],
          "",
        ]);
        expect(got.status, path).toBe(400);
      }
    });

    it("that names no resource gets a token for the API and MCP, and one for either if it names that later", async () => {
      const whole = read(await connect({}));
      expect(await reach(whole)).toEqual({ api: 200, mcp: 200 });
      const forMcp = read(await refresh(whole.refresh_token, { resource: `${url}/mcp` }));
      expect(await reach(forMcp)).toEqual({ api: 401, mcp: 200 });
      const forApi = read(await refresh(forMcp.refresh_token, { resource: `${url}/api` }));
      expect(await reach(forApi)).toEqual({ api: 200, mcp: 401 });
      expect(await reach(read(await refresh(forApi.refresh_token, {})))).toEqual({ api: 200, mcp: 200 });
      expect(await reach(read(await connect({}, { resource: `${url}/mcp` })))).toEqual({
        api: 401,
        mcp: 200,
      });
    });

    it.each(["/mcp", "/mcp/", "/api/mcp", "/api/mcp/", "/mcp/account", "/mcp/account/"])(
      "that names %s gets a token for MCP alone, also when it renews, however it spells it",
      async (path) => {
        const named = { resource: url + path };
        const tokens = read(await connect(named, named));
        expect(await reach(tokens)).toEqual({ api: 401, mcp: 200 });
        const shouted = { resource: url.toUpperCase() + path };
        expect(await reach(read(await connect(shouted)))).toEqual({ api: 401, mcp: 200 });
        const renewed = read(await refresh(tokens.refresh_token, named));
        expect(await reach(renewed)).toEqual({ api: 401, mcp: 200 });
        for (const resource of [`${url}/api`, url, "https://elsewhere.example", "x"]) {
          const { status, text } = await refresh(renewed.refresh_token, { resource });
          expect([status, JSON.parse(text).error], resource).toEqual([400, "invalid_target"]);
        }
        expect(await reach(read(await refresh(renewed.refresh_token, {})))).toEqual({ api: 401, mcp: 200 });
      },
    );

    it.each(["/api", "/api/"])("that names %s gets a token for the API alone", async (path) => {
      expect(await reach(read(await connect({ resource: url + path })))).toEqual({ api: 200, mcp: 401 });
    });
  });

  it("that names both resources gets a token for both, or for the one that it names later", async () => {
    const asked = `${url}${authorizePath("native", redirectUri)}&resource=${url}/api&resource=${url}/mcp`;
    const back = await answerApp(owner, service, asked);
    const tokens = read(await redeemCode(service, "native", redirectUri, back));
    expect(await reach(tokens)).toEqual({ api: 200, mcp: 200 });
    const renewed = read(await refresh(tokens.refresh_token, { resource: `${url}/mcp/` }));
    expect(await reach(renewed)).toEqual({ api: 401, mcp: 200 });
  });

  it.each(["https://elsewhere.example", "/mcp", "?a", "#a", "/mcp/x", "/mcp//", "/API"])(
    "that names a resource that is not ours is refused before its owner is asked: %s",
    async (wrong) => {
      const resource = wrong.startsWith("https:") || wrong === "/mcp" ? wrong : url + wrong;
      const asked = await owner.open(authorizePath("native", redirectUri, { resource }));
      const back = new URL(String(asked.headers.location));
      expect(back.searchParams.get("error")).toBe("invalid_target");
      const { status, text } = await service.submit("/oauth/device", { client_id: "native", resource });
      expect([status, JSON.parse(text).error]).toEqual([400, "invalid_target"]);
    },
  );

  it.each([
    "select_account",
    "select_account consent",
    "create",
    "login create",
    "consent  login",
    "x y z",
    " ",
  ])("that asks for %j is answered by its owner on the page", async (prompt) => {
    expect(await reach(read(await byCode({ prompt })))).toEqual({ api: 200, mcp: 200 });
  });

  it.each([
    ["none", "login_required"],
    ["none create", "invalid_request"],
    ["none login", "invalid_request"],
  ])("that wants no page, %j, is refused", async (prompt, error) => {
    const asked = await owner.open(authorizePath("native", redirectUri, { prompt }));
    const back = new URL(String(asked.headers.location));
    expect([back.searchParams.get("error"), back.searchParams.has("code")]).toEqual([error, false]);
  });

  it("may redeem its code without its redirect URI, as in OAuth 2.1, but not with another", async () => {
    const back = await answerApp(owner, service, url + authorizePath("native", redirectUri));
    const other = await redeemCode(service, "native", `${redirectUri}x`, back);
    expect([other.status, JSON.parse(other.text).error]).toEqual([400, "invalid_grant"]);
    const unproved = { code_verifier: "w".repeat(43) };
    const refused = await redeemCode(service, "native", "", back, unproved);
    expect([refused.status, JSON.parse(refused.text).error]).toEqual([400, "invalid_grant"]);
    const tokens = read(await redeemCode(service, "native", "", back));
    expect(await reach(tokens)).toEqual({ api: 200, mcp: 200 });
  });

  // anthropics/claude-code#53021
  it("may renew and revoke by its refresh token alone, but redeems no code without its name", async () => {
    const tokens = read(await byDevice({}));
    const grant = { grant_type: "refresh_token", refresh_token: tokens.refresh_token };
    const renewed = read(await service.submit("/oauth/token", grant));
    expect(await reach(renewed)).toEqual({ api: 200, mcp: 200 });
    const other = await service.submit("/oauth/token", { ...grant, client_id: "other" });
    expect([other.status, JSON.parse(other.text).error]).toEqual([401, "invalid_client"]);
    expect((await service.submit("/oauth/revoke", { token: renewed.refresh_token })).status).toBe(200);
    expect(await reach(renewed)).toEqual({ api: 401, mcp: 401 });
    const back = await answerApp(owner, service, url + authorizePath("native", redirectUri));
    const nameless = await redeemCode(service, "", redirectUri, back);
    expect([nameless.status, JSON.parse(nameless.text).error]).toEqual([400, "invalid_request"]);
  });

  // openid/AppAuth-iOS#864, indigo-dc/oidc-agent#454
  it("on a device may poll with its code alone, but not as another client", async () => {
    const asked = await service.submit("/oauth/device", { client_id: "native" });
    const { user_code, device_code } = JSON.parse(asked.text);
    const grant = { grant_type: deviceGrant, device_code };
    const poll = async (more: Fields = {}) => service.submit("/oauth/token", { ...grant, ...more });
    expect(JSON.parse((await poll()).text).error).toBe("authorization_pending");
    await answerDevice(owner, user_code);
    const other = await poll({ client_id: "other" });
    expect([other.status, JSON.parse(other.text).error]).toEqual([401, "invalid_client"]);
    expect(await reach(read(await poll()))).toEqual({ api: 200, mcp: 200 });
  });

  describe("at the token endpoint", () => {
    const asked = async () =>
      JSON.parse((await service.submit("/oauth/device", { client_id: "native" })).text).device_code;
    const ask = (headers: Record<string, string | string[]>, body: string) =>
      service.ask("/oauth/token", { method: "POST", headers, body });
    const errorOf = async (answer: Promise<Answer>) => {
      const { status, text } = await answer;
      return [status, JSON.parse(text).error];
    };
    const formType = "application/x-www-form-urlencoded";
    /** What it answers to a request that it has read. */
    const understood = [400, "authorization_pending"];

    it.each([
      [formType],
      [`${formType}; charset=UTF-8`],
      [`application/json, ${formType}`],
      [`${formType},application/json`],
      ["text/plain;charset=UTF-8"],
      [undefined],
    ])("is read if its Content-Type is %s", async (type) => {
      const body = `client_id=native&grant_type=${encodeURIComponent(deviceGrant)}&device_code=${await asked()}`;
      expect(await errorOf(ask(type ? { "content-type": type } : {}, body))).toEqual(understood);
    });

    it.each(["application/json", "multipart/form-data; boundary=x", "application/x-www-form-urlencodedx"])(
      "is refused if its Content-Type is %s (RFC 6749 §4.1.3)",
      async (type) => {
        const body = JSON.stringify({
          client_id: "native",
          grant_type: deviceGrant,
          device_code: await asked(),
        });
        const { status, text } = await ask({ "content-type": type }, body);
        expect([status, JSON.parse(text)]).toEqual([
          400,
          {
            error: "invalid_request",
            error_description: `only ${formType} content-type bodies are supported on POST /oauth/token`,
          },
        ]);
      },
    );

    it.each(["native:none", "native:", "native:undefined", "native:a:b%", "n%61tive:x"])(
      "may name its client by Basic with whatever it has for a secret: %s (RFC 6749 §2.3.1)",
      async (credentials) => {
        const authorization = `Basic ${Buffer.from(credentials).toString("base64")}`;
        const grant = { grant_type: deviceGrant, device_code: await asked() };
        for (const more of [{}, { client_id: "native" }, { client_id: "native", client_secret: "none" }])
          expect(
            await errorOf(
              service.submit("/oauth/token", { ...grant, ...more }, { headers: { authorization } }),
            ),
          ).toEqual(understood);
      },
    );

    it("may send the token that it renews, too, as MCP Inspector does (modelcontextprotocol/inspector#1160)", async () => {
      const fields = { client_id: "native", grant_type: deviceGrant, device_code: await asked() };
      for (const authorization of ["Bearer expired", "Bearer expired, Basic bmF0aXZlOng=", "DPoP expired"])
        expect(
          await errorOf(service.submit("/oauth/token", fields, { headers: { authorization } })),
          authorization,
        ).toEqual(understood);
    });

    it("is refused if Basic names another client, none, or cannot be read", async () => {
      const fields = { client_id: "native", grant_type: deviceGrant, device_code: await asked() };
      for (const credentials of ["other:x", ":x", "native", "%zz:x"]) {
        const authorization = `Basic ${Buffer.from(credentials).toString("base64")}`;
        const answer = service.submit("/oauth/token", fields, { headers: { authorization } });
        expect(await errorOf(answer), credentials).toEqual([400, "invalid_request"]);
      }
    });
  });
});
