import { beforeAll, describe, expect, it } from "vitest";
import { littleOfNetwork, oauthBounds, rateLimits } from "@/lib/config/limits";
import { startService, startStage } from "@/tests/support/block";
import { Browser } from "@/tests/support/browser";
import { eventually } from "@/tests/support/databases";
import { type Engine, engines } from "@/tests/support/engines";
import { authorizePath, makeApp, redeemCode, redirectUri, register } from "@/tests/support/oauth-libraries";
import {
  answerApp,
  answerShown,
  connectApp,
  deviceGrant,
  readQuestion,
  refresh,
} from "@/tests/support/owner";
import { Service } from "@/tests/support/service";

/* A flood by strangers must not stop an owner's app that requests authorization, polls and refreshes. */

const email = "ceo@example.com";
const [embedded] = engines as [Engine];

const askPath = (more: Record<string, string> = {}) => authorizePath("native", redirectUri, more);

/** Sends requests, 25 at a time. */
async function flood<T>(times: number, send: (n: number) => Promise<T>): Promise<T[]> {
  const answers: T[] = [];
  for (let n = 0; n < times; n += 25) {
    const some = Array.from({ length: Math.min(25, times - n) }, (_, i) => send(n + i));
    answers.push(...(await Promise.all(some)));
  }
  return answers;
}

describe.each(engines)("a flood of requests to the authorization server, on $name", async (engine) => {
  const stage = await startStage(engine);
  // PostgreSQL would compress the repeated bytes of this test; an attacker's would not compress.
  if (engine !== embedded) await stage.query("ALTER TABLE connect_state ALTER payload SET STORAGE EXTERNAL");
  const service = await startService({ ...stage.environment, TRUSTED_PROXY_HOPS: "1" });
  const app = await makeApp(service);
  let owner: Browser;
  beforeAll(async () => {
    owner = await Browser.admit(service, email, "--plan", "licensed");
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

  it("stores at maxRows 2 KB per request, and no parameter that is not read", async () => {
    const state = "s".repeat(1800);
    const ignored = {
      login_hint: "stranger@example.com",
      nonce: "n".repeat(8000),
      ui_locales: "l".repeat(2000),
    };
    expect((await service.ask(askPath({ state, ...ignored }))).status).toBe(303);
    const [asked] = await stage.query(
      `SELECT payload FROM connect_state WHERE kind = 'Interaction' AND payload LIKE '%${state}%'`,
    );
    expect(String(asked?.payload).length).toBeLessThan(3500);
    expect(asked?.payload).not.toContain("stranger@example.com");
    const tooLarge = askPath({ state: "t".repeat(2048) });
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
      const tokens = await connectApp(app, owner, service);
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
      expect(location).toContain("/connect?answered=request&outcome=approved&");
      await stage.query("DELETE FROM connect_state WHERE id_hash LIKE 'flood-%'");
    },
  );

  it("cannot be kept by an account that looks at more than 20", async () => {
    for (let n = 0; n < 22; n++) {
      await owner.open((await app.ask()).address.href.replace(service.url, ""));
      await owner.open("/connect");
    }
    expect(await count("grant_id LIKE 'seen by %'")).toBe(20);
    // What it lets in is kept all the same.
    const strangers = "kind = 'DeviceCode' AND grant_id IS NULL";
    const before = await count(strangers);
    const { user_code } = await app.askByDevice();
    expect(await count(strangers)).toBe(before + 1);
    await answerApp(owner, service, `${service.url}/connect?user_code=${user_code}`);
    expect(await count(strangers)).toBe(before);
  });

  it("is swept by cron if no server runs", async () => {
    const away = await engine.prepare();
    const rows = ["'old', 1", `'new', ${Date.now() + 60_000}`].map((row) => `('Interaction', '{}', ${row})`);
    await away.query(`INSERT INTO connect_state (kind, payload, id_hash, expires_at_ms) VALUES ${rows}`);
    await (await Service.make(away.environment)).adminJson("emails", "send-due");
    expect(await away.query("SELECT id_hash FROM connect_state")).toEqual([{ id_hash: "new" }]);
    await away.clear();
  });

  const registerFrom = async (from: string) => {
    const client = { client_name: "Desk", redirect_uris: ["http://127.0.0.1/callback"] };
    const { status, headers, text } = await register(service, client, from);
    return { status, headers, clientId: String(JSON.parse(text).client_id) };
  };

  it("of 1,000 registrations from 100 addresses pushes out no client, approved or not", async () => {
    const { clientId: approved } = await registerFrom("127.8.0.1");
    const back = await answerApp(owner, service, service.url + authorizePath(approved, redirectUri));
    const redeemed = await redeemCode(service, approved, redirectUri, back);
    const { refresh_token } = JSON.parse(redeemed.text);
    const { clientId: first } = await registerFrom("127.8.0.1");
    const answers = await flood(1000, (n) => registerFrom(`127.8.1.${1 + (n % 100)}`));
    expect(answers.filter(({ status }) => status !== 201)).toEqual([]);
    expect(await count("kind = 'Client'"), "only the approved one is kept").toBe(1);
    const { clientId: last } = await registerFrom("127.8.0.2");
    for (const client_id of [first, last, approved]) {
      const back = await answerApp(owner, service, service.url + authorizePath(client_id, redirectUri));
      expect(new URL(back).searchParams.get("code")).toMatch(/./);
    }
    expect(await count("kind = 'Client'"), "those that the owner has let in").toBe(3);
    const grant = { client_id: approved, grant_type: "refresh_token", refresh_token };
    expect((await service.submit("/oauth/token", grant)).status).toBe(200);
  });

  it("of registrations from one address is refused after 300 in ten minutes, and nothing else is", async () => {
    const from = "127.8.4.1";
    const answers = await flood(rateLimits.registrations.perClient + 5, () => registerFrom(from));
    const refused = answers.filter(({ status }) => status !== 201);
    expect(refused.map(({ status }) => status)).toEqual(Array(5).fill(429));
    for (const { headers } of refused) expect(Number(headers["retry-after"])).toBeGreaterThan(0);
    expect((await service.ask(askPath(), { from })).status, "a request").toBe(303);
    expect((await registerFrom("127.8.4.2")).status, "another address").toBe(201);
  });
});

it("six /48s that use up their half of all device codes leave newcomers theirs, and are told whose share it was", async () => {
  const service = await startService({ SIGN_IN: "local", TRUSTED_PROXY_HOPS: "1" });
  const ask = (address: string) =>
    service.submit("/oauth/device", { client_id: "native" }, { headers: { "x-forwarded-for": address } });
  const half = rateLimits.connect.inAll / 2;
  const answers = await flood(half + 500, (n) => ask(`2001:db8:${n % 6}:${n % 24}::1`));
  const refused = answers.filter(({ status }) => status === 429);
  expect(answers.length - refused.length).toBeLessThanOrEqual(half + 6 * littleOfNetwork);
  expect(refused.length).toBeGreaterThan(400);
  expect(new Set(refused.map(({ text }) => JSON.parse(text).error_description.replace(/\d+/, "n")))).toEqual(
    new Set(["Too many attempts from all networks together: wait n seconds."]),
  );
  for (let n = 0; n < 20; n++) expect((await ask(`2001:db8:${100 + n}:1::1`)).status).toBe(200);
}, 300_000);

describe("a stranger who reaches the rate limit", () => {
  const strangers = { from: "127.0.0.1" };
  const grant = { client_id: "native", grant_type: "refresh_token", refresh_token: "guessed" };
  const guess = (service: Service) => service.submit("/oauth/token", grant, strangers);

  describe("of a service that knows client addresses", async () => {
    const service = await startService({ SIGN_IN: "local" });
    const app = await makeApp(service);
    let owner: Browser;
    beforeAll(async () => {
      owner = await Browser.admit(service, email, "--plan", "licensed");
    });

    it("has separate limits for each device code and each session", async () => {
      const { text } = await service.submit("/oauth/device", { client_id: "native" }, { from: "127.8.3.1" });
      const { device_code } = JSON.parse(text);
      const poll = { grant_type: deviceGrant, client_id: "native", device_code };
      const polls = await flood(oauthBounds.credentials.DeviceCode + 5, () =>
        service.submit("/oauth/token", poll),
      );
      expect(polls.filter(({ status }) => status === 429)).toHaveLength(5);
      const { refresh_token = "" } = await connectApp(app, owner, service);
      const other = await connectApp(app, owner, service);
      const renew = () => refresh(service, refresh_token);
      // The one that comes before it is used counts for its session, and all later ones for the used token.
      const { text: newest } = await renew();
      const renewed = await flood(oauthBounds.credentials.RefreshToken + 5, renew);
      expect(renewed.filter(({ status }) => status === 429)).toHaveLength(5);
      expect((await renew()).status, "the used one").toBe(429);
      expect((await refresh(service, JSON.parse(newest).refresh_token)).status, "its successor").toBe(200);
      expect((await refresh(service, other.refresh_token ?? "")).status).toBe(200);
    });

    it("at the owner's own address gets Retry-After, and does not stop a connected app", async () => {
      const tokens = await connectApp(app, owner, service);
      const device = await app.askByDevice();
      const { address, redeem } = await app.ask();
      const back = new URL(await answerApp(owner, service, address.href));
      for (const send of [() => guess(service), () => service.ask(askPath(), strangers)]) {
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

  it("behind a proxy that is not configured does not stop other clients after 300 requests", async () => {
    const service = await Service.start({ SIGN_IN: "local", APP_URL: "https://office.example.com" });
    const owner = await Browser.admit(service, email, "--plan", "licensed");
    const app = await makeApp(service);
    const tokens = await connectApp(app, owner, service);
    for (const { status } of await flood(320, () => guess(service))) expect(status).toBe(400);
    expect((await app.refresh(tokens.refresh_token)).access_token).toMatch(/./);
    expect((await service.ask(askPath(), strangers)).status).toBe(303);
    await service.stop();
  });
});
