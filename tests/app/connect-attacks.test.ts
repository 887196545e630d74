import { beforeEach, describe, expect, it } from "vitest";
import { borrowService, startService } from "@/tests/support/block";
import { Browser } from "@/tests/support/browser";
import { engines } from "@/tests/support/engines";
import { postLegacy } from "@/tests/support/mcp";
import { authorizePath, makeApp, redeemCode, redirectUri, verifier } from "@/tests/support/oauth-libraries";
import { answerApp, answerDevice, connectApp, deviceGrant, readQuestion } from "@/tests/support/owner";
import { reservePort } from "@/tests/support/port";

/* Attacks through apps. `hooks/clerk-ends.test.ts` has what is different with Clerk. */

const email = "ceo@example.com";
const refused = { error: "invalid_grant" };

describe.each(engines)("apps, on $name", async (engine) => {
  const { service } = await borrowService(engine);
  const admit = (email: string) => Browser.admit(service, email, "--plan", "licensed", "--credits", "5");
  const owner = await admit(email);
  const app = await makeApp(service);
  await service.adminJson("connect", "add", "desk", "Desk", "http://127.0.0.1/callback");
  beforeEach(async () => {
    await owner.post("/sign-in/renew");
  });

  const pathOf = ({ href }: URL) => href.replace(service.url, "");
  const connect = (more?: Record<string, string>) => connectApp(app, owner, service, more);
  const entitlement = (token: string) => service.statusFor(token);
  const callTool = (token: string, path = "/mcp") => {
    const params = { name: "get_credits_balance", arguments: {} };
    const headers = { authorization: `Bearer ${token}` };
    return postLegacy(service, { method: "tools/call", params }, { headers, path });
  };

  it.each([
    ["without PKCE", { code_challenge: "", code_challenge_method: "" }],
    ["with a plain challenge", { code_challenge_method: "plain" }],
    ["for a resource that is not ours", { resource: "https://elsewhere.example/api" }],
  ])("get an error %s", async (_, more: Record<string, string>) => {
    const { headers } = await owner.open(pathOf((await app.ask(more)).address));
    const back = new URL(String(headers.location));
    expect(back.origin).toBe("http://127.0.0.1:51515");
    expect(back.searchParams.get("error")).toMatch(/^invalid_/);
  });

  it.each([
    ["another path", "http://127.0.0.1:51515/callback/"],
    ["another host", "https://evil.example/callback"],
    ["a loopback look-alike", "http://127.0.0.1.evil.example/callback"],
    ["us, whom any loopback port includes", `${service.url}/callback`],
    ["us by another name of this computer", `http://[::1]:${new URL(service.url).port}/callback`],
  ])("cannot redirect the owner to %s", async (_, redirect_uri) => {
    const path = pathOf((await app.ask({ client_id: "native", redirect_uri })).address);
    const { status, headers, text } = await owner.open(path);
    expect(status).toBe(400);
    expect(headers).not.toHaveProperty("location");
    expect(JSON.parse(text)).toEqual({
      error: "invalid_request",
      error_description: "redirect_uri did not match any of the client's registered redirect_uris.",
    });
    const inBrowser = await service.ask(path, { headers: { accept: "text/html,*/*" } });
    expect(inBrowser.headers.location).toBe("/connect?problem=app");
    expect((await owner.open("/connect?problem=app")).text).toContain("Nothing was connected");
  });

  it("redeem a code once, only with its verifier, and lose all tokens when it is used again", async () => {
    const { address, redeem } = await app.ask();
    const back = new URL(await answerApp(owner, service, address.href));
    const saying = (error_description: string) => ({ ...refused, error_description });
    const otherVerifier = "code_verifier does not match code_challenge";
    await expect(redeem(back, verifier)).rejects.toMatchObject(saying(otherVerifier));
    const tokens = await redeem(back);
    expect(await entitlement(tokens.access_token)).toBe(200);
    await expect(redeem(back)).rejects.toMatchObject(saying("authorization code already consumed"));
    await expect(app.refresh(tokens.refresh_token)).rejects.toMatchObject(refused);
    expect(await entitlement(tokens.access_token)).toBe(401);
  });

  it("cannot redeem the code, refresh token or device code of another client", async () => {
    const { address } = await app.ask({ client_id: "desk" });
    const back = await answerApp(owner, service, address.href);
    const { refresh_token = "" } = await connect();
    const { text } = await service.submit("/oauth/device", { client_id: "native", scope: "account:read" });
    const { user_code, device_code } = JSON.parse(text);
    await answerDevice(owner, user_code);
    const asDesk = (fields: Record<string, string>) =>
      service.submit("/oauth/token", { client_id: "desk", ...fields });
    for (const { status, text } of [
      await redeemCode(service, "native", redirectUri, back),
      await asDesk({ grant_type: "refresh_token", refresh_token }),
      await asDesk({ grant_type: deviceGrant, device_code }),
    ]) {
      expect(status).toBe(400);
      expect(JSON.parse(text)).toMatchObject(refused);
    }
  });

  it("get tokens that are valid only for the requested resource", async () => {
    const paths = ["/mcp", "/api/mcp", "/mcp/account"];
    for (const path of paths) {
      const forMcp = await connect({ resource: service.url + path });
      expect(await entitlement(forMcp.access_token)).toBe(401);
      for (const other of paths) {
        const { text } = await callTool(forMcp.access_token, other);
        expect(text, `a token for ${path} at ${other}`).toContain('\\"credits\\":5');
      }
    }
    const forApi = await connect({ resource: `${service.url}/api` });
    expect(await entitlement(forApi.access_token)).toBe(200);
    for (const path of paths) expect((await callTool(forApi.access_token, path)).status, path).toBe(401);
  });

  it("cannot open the owner's pages with their token, as the session cookie or as a bearer token", async () => {
    const cookie = `__session=${owner.valueOf("__session")}`;
    expect((await service.ask("/home", { headers: { cookie } })).text).toContain(email);
    for (const resource of ["", `${service.url}/api`, `${service.url}/mcp`]) {
      const { access_token } = await connect(resource ? { resource } : {});
      for (const headers of [
        { cookie: `__session=${access_token}` },
        { authorization: `Bearer ${access_token}` },
      ]) {
        const home = await service.ask("/home", { headers });
        expect(home.status, resource).toBe(303);
        expect(home.headers.location).toMatch(/sign-in/);
        expect(home.text).not.toContain(email);
      }
    }
  });

  it.each([
    ["the operator ends their sessions", "ended@example.com", ["session", "end", "--all"]],
    ["their account is deleted", "deleted@example.com", ["account", "delete"]],
  ])("are refused from the next request on when %s", async (_, whose, command) => {
    const browser = await admit(whose);
    const tokens = await connectApp(app, browser, service);
    expect(await entitlement(tokens.access_token)).toBe(200);
    await service.adminJson(...command, whose);
    expect(await entitlement(tokens.access_token)).not.toBe(200);
    await expect(app.refresh(tokens.refresh_token)).rejects.toMatchObject(refused);
  });

  it("are not approved by a GET, or with the token of a program", async () => {
    await owner.open(pathOf((await app.ask()).address));
    const fields = { ...(await readQuestion(owner)), answer: "approve" };
    expect((await owner.open(`/connect/answer?request=${fields.request}&answer=approve`)).status).toBe(405);
    const copied = JSON.parse((await owner.submit("/home/token", { account: fields.account })).text).token;
    const held = (await connect()).access_token;
    await owner.open(pathOf((await app.ask()).address));
    const again = { ...(await readQuestion(owner)), answer: "approve" };
    for (const token of [copied, held, ""]) {
      const cookie = `__session=${token}; office-request=${again.request}`;
      const { headers, status } = await service.submit("/connect/answer", again, { headers: { cookie } });
      expect(headers.location ?? `${status}`).not.toContain("answered=");
    }
    const bearer = { authorization: `Bearer ${copied}` };
    expect((await owner.submit("/connect/answer", again, bearer)).status).toBe(403);
    expect((await owner.open("/oauth/resume")).headers.location ?? "").not.toContain("code=");
  });

  it("are approved only in the browser that started the request", async () => {
    await owner.open(pathOf((await app.ask()).address));
    const other = await admit("other@example.com");
    const fields = { ...(await readQuestion(owner)), answer: "approve" };
    expect((await other.submit("/connect/answer", fields)).headers.location).toBe("/connect");
  });

  it("get our own address, whatever host the request names", async () => {
    const { text } = await service.ask("/oauth/device", {
      method: "POST",
      headers: {
        host: "evil.example",
        "x-forwarded-host": "evil.example",
        forwarded: "host=evil.example",
        "content-type": "application/x-www-form-urlencoded",
      },
      body: "client_id=native&scope=account:read",
    });
    expect(JSON.parse(text).verification_uri).toBe(`${service.url}/connect`);
  });
});

describe("where the office, the backend API and the metrics have ports of their own", async () => {
  const ports = ["OFFICE_PORT", "BACKEND_PORT", "METRICS_PORT"] as const;
  const ours: Record<string, string> = {};
  for (const name of ports) ours[name] = String(await reservePort());
  const service = await startService({ SIGN_IN: "local", ...ours });
  const statusFor = async (port: string | undefined, host: string) =>
    (await service.ask(authorizePath("native", `http://${host}:${port}/`))).status;

  it.each(ports)("a native app cannot have its code sent to %s", async (name) => {
    for (const host of ["localhost", "127.0.0.1", "[::1]"])
      expect([host, await statusFor(ours[name], host)]).toEqual([host, 400]);
  });

  it("a native app may name any other port", async () => {
    expect(await statusFor(String(await reservePort()), "127.0.0.1")).toBe(303);
  });

  it("a native app may name any port of a computer on which we do not run", async () => {
    const OFFICE_PORT = String(await reservePort());
    const APP_URL = "https://office.example.com";
    const elsewhere = await startService({ SIGN_IN: "local", APP_URL, OFFICE_PORT });
    const uri = `http://127.0.0.1:${OFFICE_PORT}/`;
    const { status } = await elsewhere.ask(authorizePath("native", uri), {
      headers: { host: "office.example.com" },
    });
    expect(status).toBe(303);
  });
});
