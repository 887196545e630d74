import * as oauth from "openid-client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Browser } from "@/tests/support/browser";
import { eventually } from "@/tests/support/databases";
import { engines, type Stage } from "@/tests/support/engines";
import { Service } from "@/tests/support/service";

const redirectUri = "http://127.0.0.1:51515/callback";
const email = "ceo@example.com";

describe.each(engines)("connecting an app, on $name", (engine) => {
  let stage: Stage;
  let service: Service;
  let browser: Browser;
  let client: oauth.Configuration;

  beforeAll(async () => {
    stage = await engine.prepare();
    service = await Service.start(stage.environment);
    await service.adminJson("account", "add", email, "--plan", "licensed", "--credits", "5");
    browser = await Browser.signIn(service, email);
    client = await oauth.discovery(new URL(service.url), "native", undefined, oauth.None(), {
      algorithm: "oauth2",
      execute: [oauth.allowInsecureRequests],
      [oauth.customFetch]: (url, options) =>
        fetch(String(url).replace(service.url, `http://127.0.0.1:${service.port}`), options as RequestInit),
    });
  });
  afterAll(async () => {
    await service.stop();
    await stage.clear();
  });

  const pathOf = (url: string | undefined) => String(url).replace(service.url, "");

  /** What an app does first: it sends its owner's browser to us. */
  async function ask(more: Record<string, string> = {}) {
    const verifier = oauth.randomPKCECodeVerifier();
    const url = oauth.buildAuthorizationUrl(client, {
      redirect_uri: redirectUri,
      scope: "account:read",
      state: "kept",
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: "S256",
      ...more,
    });
    return { verifier, path: pathOf(url.href) };
  }

  /** Answers in the browser, as the page's form does, and comes back with what the app is told. */
  async function answer(word: "approve" | "decline"): Promise<URL> {
    const page = await browser.open("/connect");
    const [, uid = ""] = /name="request" value="([^"]+)"/.exec(page.text) ?? [];
    const { headers } = await browser.submit("/connect/answer", { request: uid, answer: word });
    expect(headers.location).toBe("/connect?answered=request");
    const { headers: back } = await browser.open("/oauth/resume");
    return new URL(String(back.location));
  }

  async function connect(more: Record<string, string> = {}) {
    const { verifier, path } = await ask(more);
    expect((await browser.open(path)).headers.location).toMatch(/\/connect$/);
    const back = await answer("approve");
    return oauth.authorizationCodeGrant(
      client,
      back,
      { pkceCodeVerifier: verifier, expectedState: "kept" },
      more.resource ? { resource: more.resource } : {},
    );
  }

  const entitlement = (token: string) =>
    service.ask("/api/entitlement", { headers: { authorization: `Bearer ${token}` } });

  it("shows the owner who asks, what it may do and never can, and both answers", async () => {
    await browser.open((await ask()).path);
    const { text, status, headers } = await browser.open("/connect");
    expect(status).toBe(200);
    expect(headers["content-security-policy"]).toContain("frame-ancestors 'none'");
    expect(text).toContain("Let “A program on this computer” in?");
    expect(text).toContain(redirectUri);
    expect(text).toContain("cannot make an assistant send, publish, deploy or charge");
    expect(text).toContain(email);
    expect(text).toMatch(/value="approve"/);
    expect(text).toMatch(/value="decline"/);
  });

  it("gives a token of an hour for the API, which the owner's home page can end", async () => {
    const tokens = await connect();
    expect(tokens.expires_in).toBeLessThanOrEqual(3600);
    expect((await entitlement(tokens.access_token)).status).toBe(200);
    const [session] = (await service.adminJson<{ id: string; kind: string; name: string }[]>(
      "session",
      "list",
      email,
    )) as [{ id: string; kind: string; name: string }];
    expect(session).toMatchObject({ kind: "app", name: "A program on this computer" });
  });

  it("renews the token by itself, and ends the whole family when a refresh token comes twice", async () => {
    const first = await connect();
    const second = await oauth.refreshTokenGrant(client, String(first.refresh_token));
    expect((await entitlement(second.access_token)).status).toBe(200);
    const again = oauth.refreshTokenGrant(client, String(first.refresh_token));
    await expect(again).rejects.toMatchObject({ error: "invalid_grant" });
    const family = oauth.refreshTokenGrant(client, String(second.refresh_token));
    await expect(family).rejects.toMatchObject({ error: "invalid_grant" });
    await eventually(async () => expect((await entitlement(second.access_token)).status).toBe(401));
  });

  it("takes a refresh token back (RFC 7009), and all that hangs on it", async () => {
    const tokens = await connect();
    await oauth.tokenRevocation(client, String(tokens.refresh_token));
    await eventually(async () => expect((await entitlement(tokens.access_token)).status).toBe(401));
  });

  it("stops at the next request once the operator ends its sessions", async () => {
    const tokens = await connect();
    await service.adminJson("session", "end", email, "--all");
    expect((await entitlement(tokens.access_token)).status).toBe(401);
    const renewal = oauth.refreshTokenGrant(client, String(tokens.refresh_token));
    await expect(renewal).rejects.toMatchObject({ error: "invalid_grant" });
    browser = await Browser.signIn(service, email);
  });

  it("binds a token to the one resource that was asked for", async () => {
    const forMcp = await connect({ resource: `${service.url}/mcp` });
    expect((await entitlement(forMcp.access_token)).status).toBe(401);
    const call = (token: string) =>
      service.ask("/mcp", {
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
        body: JSON.stringify({
          ...{ jsonrpc: "2.0", id: 1, method: "tools/call" },
          params: { name: "get_credits_balance", arguments: {} },
        }),
      });
    expect((await call(forMcp.access_token)).text).toContain('\\"credits\\":5');
    const forApi = await connect();
    expect((await call(forApi.access_token)).status).toBe(401);
  });

  it("lets a device in by its code", async () => {
    const device = await oauth.initiateDeviceAuthorization(client, { scope: "account:read" });
    expect(device.verification_uri).toBe(`${service.url}/connect`);
    const page = await browser.open(`/connect?user_code=${device.user_code.toLowerCase()}`);
    expect(page.text).toContain("Nobody of ours ever sends you a code");
    const { headers } = await browser.submit("/connect/answer", {
      user_code: device.user_code,
      answer: "approve",
    });
    expect(headers.location).toBe("/connect?answered=user_code");
    const tokens = await oauth.pollDeviceAuthorizationGrant(client, { ...device, interval: 0.1 });
    expect((await entitlement(tokens.access_token)).status).toBe(200);
  });

  it("tells the app that its owner declined", async () => {
    await browser.open((await ask()).path);
    const back = await answer("decline");
    expect(back.searchParams.get("error")).toBe("access_denied");
    expect(back.searchParams.get("iss")).toBe(service.url);
    expect(back.searchParams.has("code")).toBe(false);
  });

  describe("attacked", () => {
    it.each([
      ["without PKCE", { code_challenge: "", code_challenge_method: "" }],
      ["with a plain challenge", { code_challenge_method: "plain" }],
      ["for a resource that is not ours", { resource: "https://elsewhere.example/api" }],
    ])("gives nothing %s", async (_, more) => {
      const { path } = await ask(more as Record<string, string>);
      const { headers } = await browser.open(path);
      const back = new URL(String(headers.location));
      expect(back.origin).toBe("http://127.0.0.1:51515");
      expect(back.searchParams.get("error")).toMatch(/^invalid_/);
    });

    it.each([
      ["another path", "http://127.0.0.1:51515/callback/"],
      ["another host", "https://evil.example/callback"],
      ["a loopback look-alike", "http://127.0.0.1.evil.example/callback"],
    ])("sends nobody to %s", async (_, redirect_uri) => {
      const { path } = await ask({ redirect_uri });
      const { status, headers, text } = await browser.open(path);
      expect(status).toBe(400);
      expect(headers).not.toHaveProperty("location");
      expect(JSON.parse(text).error.code).toBe("invalid_request");
    });

    it("redeems a code once, for its own verifier alone, and ends everything when it comes again", async () => {
      const { verifier, path } = await ask();
      await browser.open(path);
      const back = await answer("approve");
      const redeem = (pkceCodeVerifier: string) =>
        oauth.authorizationCodeGrant(client, back, { pkceCodeVerifier, expectedState: "kept" });
      await expect(redeem(oauth.randomPKCECodeVerifier())).rejects.toMatchObject({ error: "invalid_grant" });
      const { access_token, refresh_token } = await redeem(verifier);
      expect((await entitlement(access_token)).status).toBe(200);
      await expect(redeem(verifier)).rejects.toMatchObject({ error: "invalid_grant" });
      const renewal = oauth.refreshTokenGrant(client, String(refresh_token));
      await expect(renewal).rejects.toMatchObject({ error: "invalid_grant" });
    });

    it("says in a browser that nobody was let in, and leads it nowhere else", async () => {
      const { path } = await ask({ redirect_uri: "https://evil.example/callback" });
      const headers = { accept: "text/html,*/*" };
      expect((await service.ask(path, { headers })).headers.location).toBe("/connect?problem=app");
      expect((await browser.open("/connect?problem=app")).text).toContain("Nobody was let in");
    });

    it("looks up thirty codes in ten minutes from one address, of 25 thousand million", async () => {
      const { user_code } = await oauth.initiateDeviceAuthorization(client, { scope: "account:read" });
      expect(user_code).toMatch(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/);
      const guess = (code: string) => service.ask(`/connect?user_code=${code}`, { from: "127.40.0.1" });
      for (let time = 0; time < 30; time++) {
        expect((await guess("BBBB-BBBB")).text).toContain("No device shows this code now");
      }
      const { headers } = await guess(user_code);
      expect(headers.location).toBe("/connect?problem=codes");
      expect((await browser.open(`/connect?user_code=${user_code}`)).text).toContain("Only go on if");
    });

    it("is told in the answer who answered (RFC 9207), so that no other server's is taken for ours", async () => {
      const { verifier, path } = await ask();
      await browser.open(path);
      const back = await answer("approve");
      const other = new URL(back);
      other.searchParams.set("iss", "https://evil.example");
      const checks = { pkceCodeVerifier: verifier, expectedState: "kept" };
      await expect(oauth.authorizationCodeGrant(client, other, checks)).rejects.toThrow();
      expect((await oauth.authorizationCodeGrant(client, back, checks)).access_token).toMatch(/./);
    });

    it("names our own address, whatever the request says of it", async () => {
      const { text } = await service.ask("/oauth/device", {
        method: "POST",
        headers: {
          ...{ host: "evil.example", "x-forwarded-host": "evil.example", forwarded: "host=evil.example" },
          "content-type": "application/x-www-form-urlencoded",
        },
        body: "client_id=native&scope=account:read",
      });
      expect(JSON.parse(text).verification_uri).toBe(`${service.url}/connect`);
    });

    it("approves by no GET, from no other page, and for no token that a program holds", async () => {
      await browser.open((await ask()).path);
      const page = await browser.open("/connect");
      const [, uid = ""] = /name="request" value="([^"]+)"/.exec(page.text) ?? [];
      const fields = { request: uid, answer: "approve" };
      expect((await browser.open(`/connect/answer?request=${uid}&answer=approve`)).status).toBe(405);
      const elsewhere = await browser.submit("/connect/answer", fields, { origin: "https://evil.example" });
      expect(elsewhere.status).toBe(403);
      const token = await service.token(email);
      const cookie = `__session=${token}; office-request=${uid}`;
      const byProgram = await service.submit("/connect/answer", fields, { headers: { cookie } });
      expect(byProgram.headers.location).toBe("/sign-in?problem=ended");
      expect((await browser.open("/oauth/resume")).headers.location).not.toContain("code=");
    });

    it("answers no request that another browser began", async () => {
      await browser.open((await ask()).path);
      const page = await browser.open("/connect");
      const [, uid = ""] = /name="request" value="([^"]+)"/.exec(page.text) ?? [];
      const other = await Browser.signIn(service, email);
      const { headers } = await other.submit("/connect/answer", { request: uid, answer: "approve" });
      expect(headers.location).toBe("/connect");
    });
  });

  it("says what it offers, and in JSON what it does not", async () => {
    const server = await service.ask("/.well-known/oauth-authorization-server");
    expect(JSON.parse(server.text)).toMatchObject({
      issuer: service.url,
      code_challenge_methods_supported: ["S256"],
      token_endpoint_auth_methods_supported: ["none"],
      client_id_metadata_document_supported: true,
    });
    const resource = await service.ask("/.well-known/oauth-protected-resource/mcp");
    expect(JSON.parse(resource.text)).toMatchObject({
      resource: `${service.url}/mcp`,
      authorization_servers: [service.url],
    });
    for (const path of ["/.well-known/openid-configuration", "/oauth/register", "/register"]) {
      const { status, text } = await service.ask(path);
      expect(status, path).toBe(404);
      expect(JSON.parse(text).error.code).toBe("not_found");
    }
  });
});
