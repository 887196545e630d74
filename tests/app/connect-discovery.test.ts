import { beforeAll, describe, expect, it } from "vitest";
import { borrowService } from "@/tests/support/block";
import { Browser } from "@/tests/support/browser";
import { post, postLegacy, postModern } from "@/tests/support/mcp";
import { makeApp } from "@/tests/support/oauth-libraries";
import { connectApp } from "@/tests/support/owner";

/* How agents and pages elsewhere find the MCP server and the authorization server, whatever they were told. */

const { service } = await borrowService();
const { url } = service;
const metadata = "/.well-known/oauth-protected-resource";
const servers = ["/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"];
const resources = ["", "/api", "/mcp", "/api/mcp", "/mcp/account"];
const called = { method: "tools/call", params: { name: "get_entitlement", arguments: {} } };

describe("an agent that was told an address with a slash at its end", () => {
  let token: string;
  beforeAll(async () => {
    const owner = await Browser.admit(service, "slash@example.com", "--plan", "licensed");
    token = (await connectApp(await makeApp(service), owner, service)).access_token;
  });

  it.each(["/mcp/", "/api/mcp/", "/mcp/account/"])("is answered at %s as without it", async (path) => {
    const headers = { authorization: `Bearer ${token}` };
    for (const ask of [postLegacy, postModern]) {
      const answer = await ask(service, called, { path, headers });
      expect([answer.status, JSON.parse(answer.text).result.structuredContent.status]).toEqual([
        200,
        "licensed",
      ]);
    }
    const listed = await postLegacy(service, { method: "tools/list" }, { path, headers });
    const asked = await postLegacy(service, { method: "tools/list" }, { path: path.slice(0, -1), headers });
    expect(listed.text).toBe(asked.text);
    const got = await service.ask(path);
    expect([got.status, got.headers.allow]).toEqual([405, "POST, OPTIONS"]);
    expect((await service.ask(path, { method: "OPTIONS" })).status).toBe(204);
  });

  it.each(["/mcp", "/api/mcp", "/mcp/account"])(
    "finds the resource in the spelling that it was told, from %s on",
    async (path) => {
      for (const told of [path, `${path}/`]) {
        const refused = await postLegacy(service, called, { path: told });
        expect(refused.status).toBe(401);
        const [, hint] = /resource_metadata="([^"]+)"/.exec(refused.headers["www-authenticate"] ?? "") ?? [];
        expect(hint).toBe(`${url}${metadata}${told}`);
        const found = JSON.parse((await service.ask(metadata + told)).text);
        expect(found.resource, "identical: RFC 9728 §3.3").toBe(url + told);
      }
    },
  );

  it.each(resources)("gets the metadata of %j, but for that spelling, as without it", async (path) => {
    const without = await service.ask(metadata + path);
    const found = await service.ask(`${metadata}${path}/`);
    expect([found.status, found.headers["content-type"]]).toEqual([200, "application/json"]);
    expect(JSON.parse(without.text).resource).toBe(url + path);
    expect(JSON.parse(found.text)).toEqual({ ...JSON.parse(without.text), resource: `${url}${path}/` });
  });

  it.each(servers)("gets the authorization server's metadata at %s/", async (path) => {
    expect((await service.ask(`${path}/`)).text).toBe((await service.ask(path)).text);
  });

  it.each([
    "/api/",
    "/api/health/",
    "/api/entitlement/",
    "/api/mcp//",
    "//api/mcp",
    "/api//mcp/",
    "/API/mcp/",
    "/api/mcp/x",
    "/api/mcp/account/",
    "/mcp//",
    "/mcp/account//",
    "/mcp/x/",
    "/oauth/token/",
    `${metadata}//`,
    `${metadata}/mcp//`,
    `${metadata}/docs`,
  ])("finds nothing at %s", async (path) => {
    for (const method of ["GET", "POST"]) {
      const { status, headers, text } = await service.ask(path, { method });
      expect([status, headers["content-type"]], method).toEqual([404, "application/json"]);
      expect(JSON.parse(text).error.code).toBe("not_found");
    }
  });
});

// modelcontextprotocol/python-sdk#3240, #3250
it("an agent that has not read the metadata since it was started renews where it guesses the token endpoint", async () => {
  const owner = await Browser.admit(service, "guess@example.com", "--plan", "licensed");
  const { refresh_token = "" } = await connectApp(await makeApp(service), owner, service, {
    resource: `${url}/mcp`,
  });
  const grant = { grant_type: "refresh_token", client_id: "native", refresh_token, resource: `${url}/mcp` };
  const { status, text } = await service.submit("/token", { ...grant, scope: "account:read" });
  expect(status).toBe(200);
  expect((await service.submit("/token", { ...grant, refresh_token: "none" })).status).toBe(400);
  const headers = { authorization: `Bearer ${JSON.parse(text).access_token}` };
  expect((await postLegacy(service, called, { path: "/mcp", headers })).status).toBe(200);
  const got = await service.ask("/token");
  expect([got.status, got.headers.allow]).toEqual([405, "POST, OPTIONS"]);
});

describe("a page of another site", () => {
  const documented = "Authorization, DPoP, Content-Type, MCP-Protocol-Version";
  const known = ["", "/"].flatMap((end) => [
    ...servers.map((path) => path + end),
    ...resources.map((path) => metadata + path + end),
  ]);
  const readable = [...known, "/.well-known/jwks.json", "/.well-known/mcp/server.json", "/openapi.json"];
  const endpoints = ["/token", ...["token", "device", "revoke", "register"].map((name) => `/oauth/${name}`)];
  const preflight = (path: string, names: string, origin = "https://inspector.example") =>
    service.ask(path, {
      method: "OPTIONS",
      headers: {
        origin,
        "access-control-request-method": "GET",
        "access-control-request-headers": names,
      },
    });

  it.each([
    ...readable.map((path) => [path, "GET, HEAD, OPTIONS"]),
    ...endpoints.map((path) => [path, "POST, OPTIONS"]),
  ])("may send %s what MCP clients send and what they add", async (path, methods) => {
    const { status, headers } = await preflight(path, "authorization,mcp-protocol-version,x-next");
    expect(status).toBe(204);
    expect(headers).toMatchObject({
      allow: methods,
      "access-control-allow-origin": "*",
      "access-control-allow-methods": methods,
      "access-control-allow-headers": `${documented}, x-next`,
      "access-control-max-age": "7200",
    });
    expect(headers).not.toHaveProperty("access-control-allow-credentials");
  });

  it("can read that a metadata address is not there, and go on to the next", async () => {
    for (const path of ["/.well-known/nothing", "/.well-known/oauth-authorization-server/x/y"]) {
      const { status, headers } = await service.ask(path, {
        headers: { origin: "https://inspector.example" },
      });
      expect([status, headers["access-control-allow-origin"]], path).toEqual([404, "*"]);
      expect(headers).not.toHaveProperty("access-control-allow-credentials");
    }
    for (const path of ["/api/nothing", "/oauth/nothing"])
      expect((await service.ask(path)).headers, path).not.toHaveProperty("access-control-allow-origin");
  });

  it("may send the MCP server and the banner headers that are not documented", async () => {
    for (const path of ["/mcp", "/mcp/", "/api/site-banner"]) {
      const { headers } = await preflight(
        path,
        "content-type,mcp-param-region,x-request-id",
        "http://localhost:6274",
      );
      expect(headers["access-control-allow-headers"], path).toMatch(/X-Request-Id.*, mcp-param-region/);
    }
  });

  it("is allowed at most 32 names more, of at most 64 characters, each once, and no others", async () => {
    const many = Array.from({ length: 40 }, (_, n) => `x-${n}`);
    const allowed = async (names: string) =>
      String((await preflight("/oauth/token", names)).headers["access-control-allow-headers"]);
    expect(await allowed(many.join(","))).toBe([documented, ...many.slice(0, 32)].join(", "));
    expect(await allowed("x-a, X-A ,x-a,,x b,é,x:y,CONTENT-TYPE")).toBe(`${documented}, x-a, X-A`);
    expect(await allowed("x".repeat(65))).toBe(documented);
    expect(await allowed("x".repeat(64))).toBe(`${documented}, ${"x".repeat(64)}`);
  });

  it("has no preflight of the address that browsers navigate to (RFC 9700 §2.6), of a page or of an account", async () => {
    for (const path of ["/oauth/authorize", "/connect", "/api/entitlement"])
      expect((await preflight(path, "authorization")).headers, path).not.toHaveProperty(
        "access-control-allow-origin",
      );
  });

  it("reads what went wrong", async () => {
    for (const { headers } of [
      await post(service, "{", { path: "/mcp/" }),
      await service.submit("/oauth/token", {}),
    ])
      expect(headers["access-control-allow-origin"]).toBe("*");
  });
});
