import { createPrivateKey, randomUUID, sign } from "node:crypto";
import * as openid from "openid-client";
import { beforeAll, describe, expect, it } from "vitest";
import { startService, startStage } from "@/tests/support/block";
import { Browser } from "@/tests/support/browser";
import { makeClock } from "@/tests/support/clock";
import { eventually } from "@/tests/support/databases";
import { engines } from "@/tests/support/engines";
import { type Change, type KeyHolder, makeKeyHolder } from "@/tests/support/key-holder";
import { postLegacy, postModern } from "@/tests/support/mcp";
import { authorizePath, redeemCode, redirectUri, register, verifier } from "@/tests/support/oauth-libraries";
import { answerApp, answerDevice, deviceGrant } from "@/tests/support/owner";
import type { Answer } from "@/tests/support/service";

/* Apps whose tokens are bound to a key (DPoP, RFC 9449), and who has copied what they have but not the key. */

const email = "ceo@example.com";
const second = 1000;
const hour = 3_600_000;
const algs = "ES256 Ed25519 EdDSA";
const challenge = (error: string, description: string) =>
  `DPoP realm="corner-office", error="${error}", error_description="${description}", algs="${algs}"`;

type Tokens = { access_token: string; refresh_token: string; token_type: string };

describe.each(engines)("an app with a key, on $name", async (engine) => {
  const clock = makeClock();
  const stage = await startStage(engine);
  const service = await startService({ ...stage.environment, ...clock.environment });
  const holder = makeKeyHolder(service.url, clock.now);
  const thief = makeKeyHolder(service.url, clock.now);
  let owner: Browser;
  let tokens: Tokens;

  const ask = (fields: Record<string, string>, dpop: string | undefined, from = "127.0.0.1") =>
    service.submit(
      "/oauth/token",
      { client_id: "native", ...fields },
      { from, headers: dpop === undefined ? {} : { dpop } },
    );
  const proof = (by = holder, change?: Change) => by.prove("POST", "/oauth/token", undefined, change);
  const renew = (refresh_token: string, dpop: string | undefined = proof(), from?: string) =>
    ask({ grant_type: "refresh_token", refresh_token }, dpop, from);
  const tokensOf = ({ status, text }: Answer): Tokens => {
    expect(status, text).toBe(200);
    return JSON.parse(text);
  };
  const codeFor = async (client_id = "native", redirect_uri = redirectUri, more = {}) => {
    const asked = service.url + authorizePath(client_id, redirect_uri, more);
    const back = new URL(await answerApp(owner, service, asked));
    const code = back.searchParams.get("code") ?? "";
    return { client_id, grant_type: "authorization_code", redirect_uri, code, code_verifier: verifier };
  };
  const connect = async (by = holder) => tokensOf(await ask(await codeFor(), proof(by)));
  const read = (headers: Record<string, string>, path = "/api/entitlement") => service.ask(path, { headers });
  const bound = (by: KeyHolder = holder, change?: Change, path = "/api/entitlement") =>
    read(by.headers("GET", path, tokens.access_token, change), path);

  beforeAll(async () => {
    await service.adminJson("account", "add", email, "--plan", "licensed");
    owner = await Browser.signIn(service, email);
    tokens = await connect();
  });

  it("finds in the metadata that it can bind its tokens, and which signatures are taken", async () => {
    for (const path of [
      "oauth-authorization-server",
      "openid-configuration",
      "oauth-protected-resource/mcp",
    ]) {
      const { text } = await service.ask(`/.well-known/${path}`);
      expect(JSON.parse(text).dpop_signing_alg_values_supported).toEqual(algs.split(" "));
    }
  });

  it("gets a token with the thumbprint of its key, which reads the account with a proof for each request", async () => {
    expect(tokens.token_type).toBe("DPoP");
    const claims = JSON.parse(Buffer.from(tokens.access_token.split(".")[1] ?? "", "base64url").toString());
    expect(claims.cnf).toEqual({ jkt: holder.thumbprint });
    expect((await bound()).status).toBe(200);
    expect((await bound()).status).toBe(200);
    expect((await bound(holder, {}, "/api/credits/balance")).status).toBe(200);
  });

  it.each(["/mcp", "/api/mcp", "/mcp/account", "/mcp/"])("calls a tool at %s, in both eras", async (path) => {
    const message = { method: "tools/call", params: { name: "get_entitlement", arguments: {} } };
    for (const post of [postLegacy, postModern]) {
      const call = (headers: Record<string, string>) => post(service, message, { path, headers });
      const answer = await call(holder.headers("POST", path, tokens.access_token));
      expect(answer.status, answer.text).toBe(200);
      expect(answer.text).toContain("licensed");
      const refused = await call({ authorization: `DPoP ${tokens.access_token}` });
      expect(refused.status).toBe(401);
      expect(refused.headers["www-authenticate"]).toMatch(
        /^DPoP realm="corner-office", error="invalid_token", .*, resource_metadata="/,
      );
      expect(refused.headers["access-control-expose-headers"]).toContain("DPoP-Nonce");
    }
  });

  const noProof = "The token is bound to a key: send a DPoP proof";
  const asBearer = "The token is bound to a key: send it as DPoP, with a proof";
  it.each<[string, string, () => Record<string, string>]>([
    ["without a proof", noProof, () => ({ authorization: `DPoP ${tokens.access_token}` })],
    ["as a bearer token", asBearer, () => ({ authorization: `Bearer ${tokens.access_token}` })],
    [
      "as a bearer token with a proof",
      asBearer,
      () => ({
        ...holder.headers("GET", "/api/entitlement", tokens.access_token),
        authorization: `Bearer ${tokens.access_token}`,
      }),
    ],
    ["as a cookie", asBearer, () => ({ cookie: `__session=${tokens.access_token}` })],
    [
      "with another's proof",
      "The token is bound to another key",
      () => thief.headers("GET", "/api/entitlement", tokens.access_token),
    ],
  ])("is refused %s: 401, with what is missing", async (_, why, headers) => {
    const answer = await read(headers());
    expect(answer.status).toBe(401);
    expect(answer.headers["www-authenticate"]).toBe(challenge("invalid_token", why));
    expect(JSON.parse(answer.text)).toMatchObject({
      ok: false,
      error: { code: "signed_out", hint: `${why}.` },
    });
    expect(answer.headers).not.toHaveProperty("dpop-nonce");
  });

  const malformed = "The DPoP proof is not one JWT of type dpop+jwt with its public key";
  const unsigned = "The signature of the DPoP proof is not valid";
  it.each<[string, string, Change]>([
    ["another type", malformed, { header: { typ: "JWT" } }],
    ["no signature algorithm", malformed, { header: { alg: "none" } }],
    ["a shared secret", malformed, { header: { alg: "HS256" } }],
    ["an algorithm that is not its key's", malformed, { header: { alg: "EdDSA" } }],
    ["a private key", malformed, { header: { jwk: holder.privateJwk } }],
    ["no key", malformed, { header: { jwk: undefined } }],
    ["a critical extension", malformed, { header: { crit: ["b64"], b64: false } }],
    ["no id", malformed, { claims: { jti: "" } }],
    ["no time", malformed, { claims: { iat: undefined } }],
    ["a time in words", malformed, { claims: { iat: "now" } }],
    ["more than 4 KiB", malformed, { claims: { jti: "j".repeat(4096) } }],
    ["another method", "htm is not GET", { claims: { htm: "POST" } }],
    ["a method in small letters", "htm is not GET", { claims: { htm: "get" } }],
    ["another token", "ath is not the hash of the token", { claims: { ath: "x" } }],
    ["no token", "ath is not the hash of the token", { claims: { ath: undefined } }],
    [
      "a path that is not the request's",
      "htu is not ",
      { claims: { htu: `${service.url}/api/credits/balance` } },
    ],
    ["another host", "htu is not ", { claims: { htu: "https://elsewhere.example/api/entitlement" } }],
    ["no address", "htu is not ", { claims: { htu: "/api/entitlement" } }],
  ])("is refused with a proof of %s", async (_, why, change) => {
    const description = why.endsWith(" ") ? `${why}${service.url}/api/entitlement` : why;
    const answer = await bound(holder, change);
    expect(answer.status).toBe(401);
    expect(answer.headers["www-authenticate"]).toBe(challenge("invalid_dpop_proof", description));
  });

  it("is refused with a proof that was changed, and with two", async () => {
    const { authorization, dpop } = holder.headers("GET", "/api/entitlement", tokens.access_token);
    const [head, claims] = dpop.split(".");
    const changed = await read({ authorization, dpop: `${head}.${claims}.${"A".repeat(86)}` });
    expect(changed.headers["www-authenticate"]).toBe(challenge("invalid_dpop_proof", unsigned));
    const two = await read({ authorization, dpop: `${dpop}, ${dpop}` });
    expect(two.headers["www-authenticate"]).toBe(challenge("invalid_dpop_proof", malformed));
  });

  it.each([
    ["first", 0],
    ["second", 32],
  ])("may have a signature whose %s number is short", async (_, from) => {
    const signatureOf = ({ dpop }: { dpop: string }) => Buffer.from(dpop.split(".")[2] ?? "", "base64url");
    let headers: ReturnType<KeyHolder["headers"]>;
    do headers = holder.headers("GET", "/api/entitlement", tokens.access_token);
    while (signatureOf(headers)[from] !== 0);
    expect((await read(headers)).status).toBe(200);
  });

  it("is refused with a signature in ASN.1, as OpenSSL and key stores make it", async () => {
    const { authorization, dpop } = holder.headers("GET", "/api/entitlement", tokens.access_token);
    const signed = dpop.slice(0, dpop.lastIndexOf("."));
    const key = createPrivateKey({ key: holder.privateJwk, format: "jwk" });
    const signature = sign("sha256", Buffer.from(signed), key).toString("base64url");
    const answer = await read({ authorization, dpop: `${signed}.${signature}` });
    expect(answer.headers["www-authenticate"]).toBe(challenge("invalid_dpop_proof", unsigned));
  });

  it("may say more in a proof than it has to", async () => {
    const jwk = { ...holder.jwk, kid: "1", use: "sig", alg: "ES256", key_ops: ["verify"] };
    const header = { typ: "application/dpop+jwt", kid: "1", jwk };
    const claims = { exp: Math.floor(clock.now() / second) - 60, nbf: 0, sub: "an app" };
    expect((await bound(holder, { header, claims })).status).toBe(200);
  });

  it.each([
    ["a query", (url: string) => `${url}/api/entitlement?a=b`],
    ["a fragment", (url: string) => `${url}/api/entitlement#a`],
    ["a slash more", (url: string) => `${url}/api/entitlement/`],
    ["capitals in the host", (url: string) => `${url.replace("localhost", "LOCALHOST")}/api/entitlement`],
    ["a path with dots", (url: string) => `${url}/x/../api/entitlement`],
  ])("may spell the address with %s", async (_, spell) => {
    expect((await bound(holder, { claims: { htu: spell(service.url) } })).status).toBe(200);
  });

  it("may send a query and any Host that is ours, and proves the address that is public", async () => {
    const headers = holder.headers("GET", "/api/entitlement", tokens.access_token);
    expect((await read({ ...headers, host: "127.0.0.1" }, "/api/entitlement?poll=1")).status).toBe(200);
  });

  it("can use a proof once, whatever came of it", async () => {
    const headers = holder.headers("GET", "/api/entitlement", tokens.access_token);
    expect((await read(headers)).status).toBe(200);
    const again = await read(headers);
    expect(again.status).toBe(401);
    expect(again.headers["www-authenticate"]).toBe(
      challenge("invalid_dpop_proof", "The DPoP proof was used before"),
    );
    const dpop = proof();
    tokens = tokensOf(await renew(tokens.refresh_token, dpop));
    const repeated = await renew(tokens.refresh_token, dpop);
    expect(repeated.status).toBe(400);
    expect(JSON.parse(repeated.text)).toEqual({
      error: "invalid_dpop_proof",
      error_description: "The DPoP proof was used before",
    });
  });

  it("is sent a nonce if its clock differs by more than five minutes, and the nonce counts in place of its clock", async () => {
    for (const skew of [-3 * hour, 3 * hour]) {
      const iat = Math.floor((clock.now() + skew) / second);
      const refused = await bound(holder, { claims: { iat } });
      expect(refused.status).toBe(401);
      const why = "The DPoP proof is too old, or of a clock that differs: send the nonce";
      expect(refused.headers["www-authenticate"]).toBe(challenge("use_dpop_nonce", why));
      const nonce = String(refused.headers["dpop-nonce"]);
      expect((await bound(holder, { claims: { iat, nonce } })).status).toBe(200);
      const token = await renew(tokens.refresh_token, proof(holder, { claims: { iat } }));
      expect(token.status).toBe(400);
      expect(JSON.parse(token.text).error).toBe("use_dpop_nonce");
      // One nonce does for both, because clients keep one for each origin.
      expect(token.headers["dpop-nonce"]).toBe(nonce);
      expect(token.headers["access-control-expose-headers"]).toBe(
        "Retry-After, WWW-Authenticate, DPoP-Nonce",
      );
      tokens = tokensOf(await renew(tokens.refresh_token, proof(holder, { claims: { iat, nonce } })));
      expect((await bound(holder, { claims: { iat, nonce: "made-up" } })).headers["dpop-nonce"]).toBe(nonce);
    }
    for (const skew of [-290 * second, 290 * second])
      expect(
        (await bound(holder, { claims: { iat: Math.floor((clock.now() + skew) / second) } })).status,
      ).toBe(200);
  });

  it("cannot be sent a proof again once it is too old, nor a nonce later than a few minutes", async () => {
    const refused = await bound(holder, { claims: { iat: 0 } });
    const nonce = String(refused.headers["dpop-nonce"]);
    const headers = holder.headers("GET", "/api/entitlement", tokens.access_token, {
      claims: { iat: Math.floor(clock.now() / second) + 299 },
    });
    expect((await read(headers)).status).toBe(200);
    for (const ms of [200, 200, 150].map((s) => s * second)) {
      clock.pass(ms);
      expect((await read(headers)).status).toBe(401);
    }
    const late = await bound(holder, { claims: { iat: 0, nonce } });
    expect(late.status).toBe(401);
    expect(late.headers["dpop-nonce"]).not.toBe(nonce);
  });

  it("keeps one refresh token, which a copy in another place cannot use and does not end", async () => {
    const first = await connect();
    for (let round = 0; round < 3; round++) {
      const next = tokensOf(await renew(first.refresh_token));
      expect(next.refresh_token).toBe(first.refresh_token);
      expect(next.token_type).toBe("DPoP");
    }
    for (const dpop of [undefined, proof(thief), "nonsense"]) {
      const stolen = await ask(
        { grant_type: "refresh_token", refresh_token: first.refresh_token },
        dpop,
        "127.0.9.1",
      );
      expect(stolen.status).toBe(400);
      expect(JSON.parse(stolen.text).error).toMatch(/^invalid_(?:grant|dpop_proof)$/);
    }
    clock.pass(2 * 60 * second);
    tokensOf(await renew(first.refresh_token));
    const [row] = await stage.query(
      "SELECT count(*) AS used FROM connect_state WHERE consumed_at_ms IS NOT NULL AND kind = 'RefreshToken'",
    );
    expect(Number(row?.used)).toBe(0);
  });

  it("reads a refusal in JSON, also if its client asks for HTML first, as Java's does", async () => {
    const headers = { accept: "text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2", dpop: proof(thief) };
    const { refresh_token } = tokens;
    for (const [path, fields, error] of [
      ["/oauth/token", { grant_type: "refresh_token", refresh_token }, "invalid_grant"],
      ["/oauth/token", { grant_type: "nonsense" }, "unsupported_grant_type"],
      ["/oauth/device", { scope: "account:read", client_id: "unknown" }, "invalid_client"],
    ] as const) {
      const { text } = await service.submit(path, { client_id: "native", ...fields }, { headers });
      expect(JSON.parse(text)).toMatchObject({ error, error_description: expect.any(String) });
    }
  });

  it("goes on for a week in five sessions at once, without a sign-in and without a mail", async () => {
    const mine = await connect();
    // Mails about access; the onboarding series has its own table. An attempt is noted once its mail has left it.
    const sent = () =>
      eventually(async () => expect(await stage.query("SELECT id FROM sign_in_mails")).toEqual([]));
    await sent();
    const beganMs = clock.now();
    for (let at = 0; at < 7 * 24; at += 4) {
      clock.pass(4 * hour);
      const renewed = await Promise.all(
        Array.from({ length: 5 }, (_, n) => renew(mine.refresh_token, undefined, `127.0.${n % 2}.${n + 1}`)),
      );
      for (const answer of renewed) tokens = tokensOf(answer);
      expect((await bound()).status).toBe(200);
    }
    expect(tokens.refresh_token).toBe(mine.refresh_token);
    await sent();
    const late = `SELECT kind FROM sign_in_mail_attempts WHERE at_ms > ${beganMs + hour}`;
    expect(await stage.query(late)).toEqual([]);
    owner = await Browser.signIn(service, email);
  });

  it("is shown to its owner as bound to its device, and one without a key is not", async () => {
    const other = await Browser.admit(service, "other@example.com");
    const shown = async () =>
      ((await other.open("/home/access")).text.match(/Bound to its device/g) ?? []).length;
    const asked = service.url + authorizePath("native", redirectUri);
    const connectOther = async (headers: Record<string, string>) => {
      const back = await answerApp(other, service, asked);
      return tokensOf(await redeemCode(service, "native", redirectUri, back, {}, headers));
    };
    const plain = await connectOther({});
    expect(await shown()).toBe(0);
    await connectOther({ dpop: proof() });
    expect(await shown()).toBe(1);
    tokensOf(await renew(plain.refresh_token));
    expect(await shown()).toBe(2);
  });

  it("keeps its refresh token for longer than one is stored without use", async () => {
    const mine = await connect();
    for (let month = 0; month < 4; month++) {
      clock.pass(25 * 24 * hour);
      tokensOf(await renew(mine.refresh_token));
    }
    owner = await Browser.signIn(service, email);
    tokens = await connect();
  });

  it("that was connected without a key is bound by the first proof that it renews with", async () => {
    const plain = tokensOf(await ask(await codeFor(), undefined));
    expect(plain.token_type).toBe("Bearer");
    const next = tokensOf(await renew(plain.refresh_token));
    expect(next.token_type).toBe("DPoP");
    expect(next.refresh_token).not.toBe(plain.refresh_token);
    expect(
      (await ask({ grant_type: "refresh_token", refresh_token: next.refresh_token }, undefined)).status,
    ).toBe(400);
    expect(tokensOf(await renew(next.refresh_token)).refresh_token).toBe(next.refresh_token);
  });

  it("can bind its code when it asks, and a device's tokens are bound like its own", async () => {
    const asked = await codeFor("native", redirectUri, { dpop_jkt: holder.thumbprint });
    for (const dpop of [undefined, proof(thief)]) {
      const refused = await ask(asked, dpop);
      expect(JSON.parse(refused.text).error).toBe("invalid_grant");
    }
    expect(tokensOf(await ask(asked, proof())).token_type).toBe("DPoP");
    const { text } = await service.submit("/oauth/device", { client_id: "native" });
    const { user_code, device_code } = JSON.parse(text);
    await answerDevice(owner, user_code);
    expect(tokensOf(await ask({ grant_type: deviceGrant, device_code }, proof())).token_type).toBe("DPoP");
  });

  it("that registers for bound tokens alone gets no others", async () => {
    const wanted = { redirect_uris: [redirectUri], dpop_bound_access_tokens: true };
    const { text } = await register(service, wanted, "127.9.9.1");
    const client = JSON.parse(text);
    expect(client.dpop_bound_access_tokens).toBe(true);
    const asked = await codeFor(client.client_id);
    const refused = await ask(asked, undefined);
    expect(refused.status).toBe(400);
    expect(JSON.parse(refused.text).error).toBe("invalid_grant");
    expect(tokensOf(await ask(asked, proof())).token_type).toBe("DPoP");
  });

  it.each(["EdDSA", "Ed25519", "ES256"] as const)("may have a key for %s", async (alg) => {
    const other = makeKeyHolder(service.url, clock.now, alg);
    tokens = await connect(other);
    expect((await bound(other)).status).toBe(200);
    const wrong = [Buffer.alloc(64), ...[1, 63, 64, 65].map((bytes) => Buffer.alloc(bytes, 0xff))];
    for (const signature of wrong) {
      const { authorization, dpop } = other.headers("GET", "/api/entitlement", tokens.access_token);
      const forged = `${dpop.slice(0, dpop.lastIndexOf("."))}.${signature.toString("base64url")}`;
      const answer = await read({ authorization, dpop: forged });
      expect(answer.status).toBe(401);
      expect(answer.headers["www-authenticate"]).toBe(challenge("invalid_dpop_proof", unsigned));
    }
    tokens = await connect();
  });

  it("may be one of openid-client, whether its clock is right or not", async () => {
    const { url } = service;
    for (const aheadSeconds of [0, 60 * 60]) {
      const skew = Math.round((clock.now() - Date.now()) / second) + aheadSeconds;
      const its = { [openid.clockSkew]: skew };
      const config = await openid.discovery(new URL(url), "native", its, openid.None(), {
        algorithm: "oauth2",
        execute: [openid.allowInsecureRequests],
        // The service listens on loopback, whatever its APP_URL is.
        [openid.customFetch]: (address, options) =>
          fetch(address.replace(url, `http://127.0.0.1:${service.port}`), options as RequestInit),
      });
      const DPoP = openid.getDPoPHandle(config, await openid.randomDPoPKeyPair("ES256"));
      const back = new URL(await answerApp(owner, service, url + authorizePath("native", redirectUri)));
      const checks = { pkceCodeVerifier: verifier };
      const first = await openid.authorizationCodeGrant(config, back, checks, {}, { DPoP });
      expect(first.token_type).toBe("dpop");
      const next = await openid.refreshTokenGrant(config, first.refresh_token ?? "", {}, { DPoP });
      expect(next.refresh_token).toBe(first.refresh_token);
      for (const path of ["/api/entitlement", "/api/credits/balance?a=b"]) {
        const asked = [next.access_token, new URL(url + path), "GET", null, new Headers(), { DPoP }] as const;
        const answer = await openid.fetchProtectedResource(config, ...asked);
        expect(answer.status).toBe(200);
      }
      await openid.tokenRevocation(config, next.refresh_token ?? "");
    }
  });

  it("revokes its token with a proof or without one, and is refused then", async () => {
    for (const dpop of [undefined, holder.prove("POST", "/oauth/revoke")]) {
      const mine = await connect();
      const fields = { client_id: "native", token: mine.refresh_token };
      const headers: Record<string, string> = dpop ? { dpop } : {};
      expect((await service.submit("/oauth/revoke", fields, { headers })).status).toBe(200);
      expect((await renew(mine.refresh_token)).status).toBe(400);
      expect((await read(holder.headers("GET", "/api/entitlement", mine.access_token))).status).toBe(401);
    }
  });

  it("leaves bearer tokens as they are: a proof is not looked at, and the scheme DPoP is refused", async () => {
    const { access_token } = tokensOf(await ask(await codeFor(), undefined));
    expect(await service.statusFor(access_token)).toBe(200);
    expect((await read({ authorization: `Bearer ${access_token}`, dpop: "nonsense" })).status).toBe(200);
    const refused = await read(holder.headers("GET", "/api/entitlement", access_token));
    expect(refused.headers["www-authenticate"]).toBe(
      challenge("invalid_token", "The token is bound to no key: send it as Bearer"),
    );
    const unknown = await read({ authorization: `DPoP ${randomUUID()}` });
    expect(unknown.headers["www-authenticate"]).toBe(challenge("invalid_token", "The token is not valid"));
  });
});
