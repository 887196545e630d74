import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { oauthBounds, rateLimits } from "@/lib/config/limits";
import { Browser } from "@/tests/support/browser";
import { eventually } from "@/tests/support/databases";
import { type Engine, engines, type Stage } from "@/tests/support/engines";
import { type App, openidClient, type Tokens } from "@/tests/support/oauth-libraries";
import { answerApp, answerShown, readQuestion } from "@/tests/support/owner";
import { Service } from "@/tests/support/service";

/* A flood by strangers must not stop an owner's app that requests authorization, polls and refreshes. */

const email = "ceo@example.com";
const [embedded] = engines as [Engine];

const verifier = "v".repeat(43);
const authorizePath = (more: Record<string, string> = {}) =>
  `/oauth/authorize?${new URLSearchParams({
    client_id: "native",
    redirect_uri: "http://127.0.0.1:51515/callback",
    response_type: "code",
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
    ...more,
  })}`;

async function connect(service: Service, app: App, browser: Browser): Promise<Tokens> {
  const { address, redeem } = await app.ask();
  return redeem(new URL(await answerApp(browser, service, address.href)));
}

/** Sends requests, 25 at a time. */
async function flood<T>(times: number, send: (n: number) => Promise<T>): Promise<T[]> {
  const answers: T[] = [];
  for (let n = 0; n < times; n += 25) {
    const some = Array.from({ length: Math.min(25, times - n) }, (_, i) => send(n + i));
    answers.push(...(await Promise.all(some)));
  }
  return answers;
}

describe.each(engines)("a flood of requests to the authorization server, on $name", (engine) => {
  let stage: Stage;
  let service: Service;
  let owner: Browser;
  let app: App;

  beforeAll(async () => {
    stage = await engine.prepare();
    if (engine !== embedded) {
      // PostgreSQL would compress the repeated bytes of this test; an attacker's would not compress.
      await stage.query("ALTER TABLE connect_state ALTER payload SET STORAGE EXTERNAL");
    }
    service = await Service.start({ ...stage.environment, TRUSTED_PROXY_HOPS: "1" });
    await service.adminJson("account", "add", email, "--plan", "licensed");
    owner = await Browser.signIn(service, email);
    app = await openidClient.makeApp(service);
  });
  afterAll(async () => {
    await service.stop();
    await stage.clear();
  });

  const count = async (where: string) => {
    const [row] = await stage.query(`SELECT count(*) AS n FROM connect_state WHERE ${where}`);
    return Number(row?.n);
  };
  /** Inserts rows like those of a flood, the oldest first. */
  const fill = (rows: number, { kind, expiresAtMs, payload }: Record<string, string | number>) =>
    stage.query(
      `WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${rows})
       INSERT INTO connect_state (kind, id_hash, payload, expires_at_ms)
       SELECT '${kind}', 'flood-' || n, ${payload}, ${expiresAtMs} + n FROM numbers`,
    );

  it("leaves 25,000 expired rows that are deleted in batches, while other requests are answered", async () => {
    await connect(service, app, owner); // so that everything below is loaded
    const expiresAtMs = Date.now() - 60_000;
    const expired = `expires_at_ms < ${expiresAtMs + 30_000}`;
    const payload = engine === embedded ? "hex(zeroblob(1500))" : "repeat('0', 3000)";
    await fill(25_000, { kind: "Interaction", expiresAtMs, payload });
    const beganAtMs = performance.now();
    expect((await service.ask(authorizePath())).status).toBe(303);
    let slowestMs = 0;
    let answered = 0;
    while ((await stage.query(`SELECT 1 FROM connect_state WHERE ${expired} LIMIT 1`)).length > 0) {
      const sentAtMs = performance.now();
      expect((await service.ask("/ready")).status).toBe(200);
      slowestMs = Math.max(slowestMs, performance.now() - sentAtMs);
      answered++;
      await sleep(5);
    }
    const sweptWithinMs = performance.now() - beganAtMs;
    expect(answered, "answers while the rows went").toBeGreaterThan(25);
    expect(slowestMs, `of ${sweptWithinMs} ms in all`).toBeLessThan(sweptWithinMs / 4);
  });

  it("stores at maxRows 2 KB per request, and no parameter that is not read", async () => {
    const state = "s".repeat(1800);
    const ignored = {
      login_hint: "stranger@example.com",
      nonce: "n".repeat(8000),
      ui_locales: "l".repeat(2000),
    };
    expect((await service.ask(authorizePath({ state, ...ignored }))).status).toBe(303);
    const [asked] = await stage.query(
      `SELECT payload FROM connect_state WHERE kind = 'Interaction' AND payload LIKE '%${state}%'`,
    );
    expect(String(asked?.payload).length).toBeLessThan(3500);
    expect(asked?.payload).not.toContain("stranger@example.com");
    const tooLarge = authorizePath({ state: "t".repeat(2048) });
    const { status, text } = await service.ask(tooLarge);
    expect(status).toBe(413);
    expect(JSON.parse(text).error.code).toBe("too_large");
    const inBrowser = await service.ask(tooLarge, { headers: { accept: "text/html" } });
    expect(inBrowser.headers.location).toBe("/connect?problem=app");
    expect(await count(`payload LIKE '%${"t".repeat(100)}%'`)).toBe(0);

    const device = await service.submit("/oauth/device", {
      client_id: "native",
      ...ignored,
      nonce: "m".repeat(1000),
    });
    expect(device.status).toBe(200);
    expect(await count(`payload LIKE '%${"m".repeat(100)}%'`)).toBe(0);
  });

  it.each(["Interaction", "DeviceCode"])(
    "leaves at maxRows the maximum number of %s rows: the oldest are deleted, approved ones stay",
    async (kind) => {
      const tokens = await connect(service, app, owner);
      const device = await app.askByDevice();
      await answerApp(owner, service, `${service.url}/connect?user_code=${device.user_code}`);
      // This request is approved, but the browser has not returned to the app yet.
      await owner.open((await app.ask()).address.href.replace(service.url, ""));
      await answerShown(owner);
      // This one waits for the owner's answer, who has seen it.
      const waiting = await app.ask();
      await owner.open(waiting.address.href.replace(service.url, ""));
      const fields = await readQuestion(owner);
      // All these rows are newer than the approved ones.
      const expiresAtMs = Date.now() + 20 * 60_000;
      const maxRows = oauthBounds.pendingRows;
      await fill(maxRows + 500, { kind, expiresAtMs, payload: "'{}'" });
      await eventually(async () =>
        expect(await count(`kind = '${kind}' AND id_hash LIKE 'flood-%'`)).toBe(maxRows),
      );
      expect(await count("id_hash IN ('flood-1', 'flood-500')"), "the oldest").toBe(0);
      expect(await count(`id_hash = 'flood-${maxRows + 500}'`), "the newest").toBe(1);
      expect((await device.poll()).access_token).toMatch(/./);
      expect((await app.refresh(tokens.refresh_token)).access_token).toMatch(/./);
      const { location } = (await owner.submit("/connect/answer", { ...fields, answer: "approve" })).headers;
      expect(location).toBe("/connect?answered=request&outcome=approved");
      await stage.query("DELETE FROM connect_state WHERE id_hash LIKE 'flood-%'");
    },
  );

  /** Waits for a whole round of the sweep: each begins with the rows that have expired. */
  const sweep = async () => {
    for (const marker of ["'first'", "'second'"]) {
      const row = `('Marker', '{}', ${marker}, 1)`;
      await stage.query(`INSERT INTO connect_state (kind, payload, id_hash, expires_at_ms) VALUES ${row}`);
      await eventually(async () => expect(await count("kind = 'Marker'")).toBe(0));
    }
  };

  it("from 70 /64s of one home evicts no honest request, though no /64 reaches its limit", async () => {
    const { address, redeem } = await app.ask();
    await owner.open(address.href.replace(service.url, ""));
    const device = await app.askByDevice();
    const { perNetwork } = rateLimits.connect;
    const expiresAtMs = Date.now() + 20 * 60_000;
    for (const kind of ["Interaction", "DeviceCode"]) {
      const others = oauthBounds.pendingRows - perNetwork / 2 - 100;
      await fill(others, { kind, expiresAtMs, payload: "'{}'" });
    }
    const answers = await flood(70 * 20, (n) => {
      const from = { headers: { "x-forwarded-for": `2001:db8:77:${(n % 70).toString(16)}::1` } };
      return n % 2 === 0
        ? service.ask(authorizePath(), from)
        : service.submit("/oauth/device", { client_id: "native" }, from);
    });
    await sweep();
    await answerShown(owner);
    const back = new URL(String((await owner.open("/oauth/resume")).headers.location));
    expect((await redeem(back)).access_token).toMatch(/./);
    await answerApp(owner, service, `${service.url}/connect?user_code=${device.user_code}`);
    expect((await device.poll()).access_token).toMatch(/./);
    const refused = answers.filter(({ status }) => status === 429);
    expect(answers.length - refused.length).toBe(perNetwork);
    for (const { headers } of refused) expect(Number(headers["retry-after"])).toBeGreaterThan(0);
    await stage.query("DELETE FROM connect_state WHERE id_hash LIKE 'flood-%'");
  });

  it("cannot be kept by an account that looks at more than 20", async () => {
    for (let n = 0; n < 22; n++) {
      await owner.open((await app.ask()).address.href.replace(service.url, ""));
      await owner.open("/connect");
    }
    expect(await count("grant_id LIKE 'seen by %'")).toBe(20);
  });

  it("is swept by cron if no server runs", async () => {
    const away = await engine.prepare();
    const rows = ["'old', 1", `'new', ${Date.now() + 60_000}`].map((row) => `('Interaction', '{}', ${row})`);
    await away.query(`INSERT INTO connect_state (kind, payload, id_hash, expires_at_ms) VALUES ${rows}`);
    await (await Service.make(away.environment)).adminJson("emails", "send-due");
    expect(await away.query("SELECT id_hash FROM connect_state")).toEqual([{ id_hash: "new" }]);
    await away.clear();
  });

  const register = async (from: string) => {
    const { status, headers, text } = await service.ask("/oauth/register", {
      method: "POST",
      from,
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ client_name: "Desk", redirect_uris: ["http://127.0.0.1/callback"] }),
    });
    return { status, headers, clientId: String(JSON.parse(text).client_id) };
  };

  it("of 1,000 registrations from 100 addresses pushes out no client, approved or not", async () => {
    const { clientId: approved } = await register("127.8.0.1");
    const back = await answerApp(owner, service, service.url + authorizePath({ client_id: approved }));
    const redeemed = await service.submit("/oauth/token", {
      client_id: approved,
      grant_type: "authorization_code",
      code: new URL(back).searchParams.get("code") ?? "",
      redirect_uri: "http://127.0.0.1:51515/callback",
      code_verifier: verifier,
    });
    const { refresh_token } = JSON.parse(redeemed.text);
    const { clientId: first } = await register("127.8.0.1");
    const answers = await flood(1000, (n) => register(`127.8.1.${1 + (n % 100)}`));
    expect(answers.filter(({ status }) => status !== 201)).toEqual([]);
    expect(await count("kind = 'Client'"), "only the approved one is kept").toBe(1);
    const { clientId: last } = await register("127.8.0.2");
    for (const client_id of [first, last, approved]) {
      const back = await answerApp(owner, service, service.url + authorizePath({ client_id }));
      expect(new URL(back).searchParams.get("code")).toMatch(/./);
    }
    expect(await count("kind = 'Client'"), "those that the owner has let in").toBe(3);
    const grant = { client_id: approved, grant_type: "refresh_token", refresh_token };
    expect((await service.submit("/oauth/token", grant)).status).toBe(200);
  });

  it("of registrations from one address is refused after 300 in ten minutes, and nothing else is", async () => {
    const from = "127.8.4.1";
    const answers = await flood(rateLimits.registrations.perClient + 5, () => register(from));
    const refused = answers.filter(({ status }) => status !== 201);
    expect(refused.map(({ status }) => status)).toEqual(Array(5).fill(429));
    for (const { headers } of refused) expect(Number(headers["retry-after"])).toBeGreaterThan(0);
    expect((await service.ask(authorizePath(), { from })).status, "a request").toBe(303);
    expect((await register("127.8.4.2")).status, "another address").toBe(201);
  });
});

describe("a stranger who reaches the rate limit", () => {
  const strangers = { from: "127.0.0.1" };
  const guess = (service: Service) =>
    service.submit(
      "/oauth/token",
      { client_id: "native", grant_type: "refresh_token", refresh_token: "guessed" },
      strangers,
    );

  async function open(environment: Record<string, string>) {
    const service = await Service.start({ SIGN_IN: "local", ...environment });
    await service.adminJson("account", "add", email, "--plan", "licensed");
    const owner = await Browser.signIn(service, email);
    return { service, owner, app: await openidClient.makeApp(service) };
  }

  describe("of a service that knows client addresses", () => {
    let service: Service;
    let owner: Browser;
    let app: App;
    beforeAll(async () => {
      ({ service, owner, app } = await open({}));
    });
    afterAll(() => service.stop());

    it("has separate limits for each device code and each session", async () => {
      const { text } = await service.submit("/oauth/device", { client_id: "native" }, { from: "127.8.3.1" });
      const poll = {
        grant_type: "urn:ietf:params:oauth:grant-type:device_code",
        client_id: "native",
        device_code: JSON.parse(text).device_code,
      };
      const polls = await flood(oauthBounds.credentials.DeviceCode + 5, () =>
        service.submit("/oauth/token", poll),
      );
      expect(polls.filter(({ status }) => status === 429)).toHaveLength(5);
      const { refresh_token = "" } = await connect(service, app, owner);
      const other = await connect(service, app, owner);
      const refresh = (token: string) =>
        service.submit("/oauth/token", {
          client_id: "native",
          grant_type: "refresh_token",
          refresh_token: token,
        });
      const renewed = await flood(oauthBounds.credentials.RefreshToken + 5, () => refresh(refresh_token));
      expect(renewed.filter(({ status }) => status === 429)).toHaveLength(5);
      const { text: newest = "" } = renewed.find(({ status }) => status === 200) ?? {};
      expect((await refresh(JSON.parse(newest).refresh_token)).status, "its successor").toBe(429);
      expect((await refresh(other.refresh_token ?? "")).status).toBe(200);
    });

    it("at the owner's own address gets Retry-After, and does not stop a connected app", async () => {
      const tokens = await connect(service, app, owner);
      const device = await app.askByDevice();
      const { address, redeem } = await app.ask();
      const back = new URL(await answerApp(owner, service, address.href));
      for (const send of [() => guess(service), () => service.ask(authorizePath(), strangers)]) {
        const spent = (await flood(320, send)).filter(({ status }) => status === 429);
        expect(spent.length).toBeGreaterThan(0);
        for (const { headers } of spent) expect(Number(headers["retry-after"])).toBeGreaterThan(0);
      }
      const registration = await service.ask("/oauth/register", { ...strangers, method: "POST" });
      expect(registration.status, "counted separately").toBe(400);

      expect((await redeem(back)).access_token).toMatch(/./);
      await answerApp(owner, service, `${service.url}/connect?user_code=${device.user_code}`);
      expect((await device.poll()).access_token).toMatch(/./);
      const renewed = await app.refresh(tokens.refresh_token);
      await app.revoke(renewed.refresh_token);
      await expect(app.refresh(renewed.refresh_token)).rejects.toThrow();
    });
  });

  it("with devices that poll without end does not stop an office behind the same address", async () => {
    const { service, owner, app } = await open({});
    const office = { from: "127.8.4.1" };
    const poll = (device_code: string) =>
      service.submit(
        "/oauth/token",
        { grant_type: "urn:ietf:params:oauth:grant-type:device_code", client_id: "native", device_code },
        office,
      );
    const answers = await flood(400, (n) => poll(`expired ${n % 3}`));
    expect(answers.filter(({ status }) => status === 429).length).toBeGreaterThan(0);
    for (const { status } of await flood(320, () => guess(service))) expect([400, 429]).toContain(status);
    expect((await service.ask(authorizePath(), office)).status).toBe(303);
    const { status, text } = await service.submit("/oauth/device", { client_id: "native" }, office);
    expect(status).toBe(200);
    const { user_code, device_code } = JSON.parse(text);
    await answerApp(owner, service, `${service.url}/connect?user_code=${user_code}`);
    const polled = await poll(device_code);
    expect(polled.status).toBe(200);
    expect((await app.refresh(JSON.parse(polled.text).refresh_token)).access_token).toMatch(/./);
    await service.stop();
  });

  it("behind a proxy that is not configured does not stop other clients after 300 requests", async () => {
    const { service, owner, app } = await open({ APP_URL: "https://office.example.com" });
    const tokens = await connect(service, app, owner);
    for (const { status } of await flood(320, () => guess(service))) expect(status).toBe(400);
    expect((await app.refresh(tokens.refresh_token)).access_token).toMatch(/./);
    expect((await service.ask(authorizePath(), strangers)).status).toBe(303);
    await service.stop();
  });
});
