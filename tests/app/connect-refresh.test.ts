import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { startService, startStage } from "@/tests/support/block";
import { Browser } from "@/tests/support/browser";
import { makeClock } from "@/tests/support/clock";
import { eventually } from "@/tests/support/databases";
import { engines } from "@/tests/support/engines";
import { createFolder } from "@/tests/support/leash";
import { mailsTo, mailTo } from "@/tests/support/mailbox";
import { authorizePath, redirectUri, verifier } from "@/tests/support/oauth-libraries";
import { answerApp, answerDevice, deviceGrant } from "@/tests/support/owner";
import { type Answer, Service } from "@/tests/support/service";

/* Renewals whose answers are lost, and thieves who have copied a token. Two instances answer in turn. */

const email = "ceo@example.com";
const second = 1000;
const minute = 60 * second;
const usedTwice = {
  error: "invalid_grant",
  error_description:
    "A refresh token was used twice, so someone else may have a copy, and this access has ended. Ask the owner to connect it again.",
};

type Tokens = { access_token: string; refresh_token: string };

describe.each(engines)("a refresh token, at two instances on $name", async (engine) => {
  const clock = makeClock();
  const stage = await startStage(engine);
  const shared = { APP_URL: "http://localhost:3000", DATA_DIR: createFolder() };
  const environment = { ...shared, ...stage.environment, ...clock.environment };
  const services = [await startService(environment), await startService(environment)] as const;
  await services[0].adminJson("account", "add", email, "--plan", "licensed");
  let owner: Browser;
  let next = 0;

  beforeEach(async () => {
    owner = await Browser.signIn(services[0], email);
  });

  /** The instances in turn. */
  const instance = () => services[next++ % 2] as Service;
  const ask = (fields: Record<string, string>, at = instance(), from = "127.0.0.1") =>
    at.submit("/oauth/token", { client_id: "native", ...fields }, { from });
  const refresh = (refresh_token: string, more: Record<string, string> = {}) =>
    ask({ grant_type: "refresh_token", refresh_token, ...more });
  /** From another network than the app's. */
  const stolen = (refresh_token: string) =>
    ask({ grant_type: "refresh_token", refresh_token }, instance(), "127.0.9.1");
  const tokensOf = ({ status, text }: Answer): Tokens => {
    expect(status, text).toBe(200);
    return JSON.parse(text);
  };
  const renew = async (token: string) => tokensOf(await refresh(token));
  const approvedCode = async () => {
    const asked = services[0].url + authorizePath("native", redirectUri);
    const back = new URL(await answerApp(owner, services[0], asked));
    return {
      grant_type: "authorization_code",
      redirect_uri: redirectUri,
      code: back.searchParams.get("code") ?? "",
      code_verifier: verifier,
    };
  };
  const approvedDevice = async () => {
    const { text } = await instance().submit("/oauth/device", { client_id: "native" });
    const { user_code, device_code } = JSON.parse(text);
    await answerDevice(owner, user_code);
    return { grant_type: deviceGrant, device_code };
  };
  const connect = async () => tokensOf(await ask(await approvedCode()));
  const statuses = ({ access_token }: Tokens) =>
    Promise.all(services.map((service) => service.statusFor(access_token)));
  const home = async () => (await owner.open("/home/access")).text.replace(/<[^>]+>/g, "");

  it("has one successor: it gets the same one within a minute, and at any time until that is used", async () => {
    const first = await connect();
    const lost = await renew(first.refresh_token);
    const used = await renew(lost.refresh_token);
    clock.pass(50 * second);
    expect((await renew(first.refresh_token)).refresh_token).toBe(lost.refresh_token);
    let token = used.refresh_token;
    for (let day = 0; day < 3; day++) {
      const { refresh_token: successor } = await renew(token);
      clock.pass(20 * 60 * minute);
      owner = await Browser.signIn(services[0], email);
      const again = await renew(token);
      expect(again.refresh_token).toBe(successor);
      expect(await statuses(again)).toEqual([200, 200]);
      token = successor;
    }
  });

  it("has the same successor after APP_SECRET was rotated, and is stored in no form that tells it", async () => {
    const first = await connect();
    const { refresh_token: successor } = await renew(first.refresh_token);
    const { environment, dataDir } = services[0];
    const APP_SECRET_PREVIOUS = environment.APP_SECRET ?? readFileSync(join(dataDir, "app-secret"), "utf8");
    const rotated = await Service.start({ ...environment, APP_SECRET: "b".repeat(43), APP_SECRET_PREVIOUS });
    const answer = await ask({ grant_type: "refresh_token", refresh_token: first.refresh_token }, rotated);
    expect(tokensOf(answer).refresh_token).toBe(successor);
    await rotated.stop();
    const rows = await stage.query("SELECT * FROM connect_state WHERE kind = 'RefreshToken'");
    for (const token of [first.refresh_token, successor]) expect(JSON.stringify(rows)).not.toContain(token);
  });

  it.each([
    ["a resource that is not ours", { resource: "https://elsewhere.example" }, "invalid_target"],
    ["another client", { client_id: "desk" }, "invalid_(?:client|grant)"],
  ])("is as it was after a request that names %s", async (_, wrong: Record<string, string>, error) => {
    const first = await connect();
    const count = async () => {
      const [row] = await stage.query(
        "SELECT count(*) AS rows, count(consumed_at_ms) AS used FROM connect_state WHERE kind = 'RefreshToken'",
      );
      return { rows: Number(row?.rows), used: Number(row?.used) };
    };
    const before = await count();
    const { status, text } = await refresh(first.refresh_token, wrong);
    expect(JSON.parse(text).error).toMatch(new RegExp(`^${error}$`));
    expect(Math.floor(status / 100)).toBe(4);
    expect(await count()).toEqual(before);
    await renew(first.refresh_token);
  });

  it("ends its session as a replay if it comes from another network, and its owner reads why", async () => {
    const bystander = await connect();
    const first = await connect();
    const latest = await renew((await renew(first.refresh_token)).refresh_token);
    expect(await home()).not.toContain("an old token of it was used again");
    clock.pass(minute);
    const { status, headers, text } = await stolen(first.refresh_token);
    expect(status).toBe(400);
    expect(headers["content-type"]).toContain("application/json");
    expect(headers["cache-control"]).toContain("no-store");
    expect(JSON.parse(text)).toEqual(usedTwice);
    // The session has ended when the answer arrives, on every instance, and no other has.
    expect(await statuses(latest)).toEqual([401, 401]);
    await renew(bystander.refresh_token);
    for (const { refresh_token } of [first, latest, latest]) {
      const later = await refresh(refresh_token);
      expect(later.status).toBe(400);
      expect(JSON.parse(later.text)).toEqual(usedTwice);
    }
    expect(await home()).toMatch(
      /Ended on .+: an old token of it was used again, so someone else may have a copy\./,
    );
    await mailTo(services[0].dataDir, email, /^An app was disconnected: someone may have copied its access$/);
    const entries = await services[0].audit(email);
    expect(entries.filter(({ what }) => what === "app replay")).toMatchObject([{ who: "app", whom: email }]);
    clock.pass(31 * 24 * 60 * minute);
    owner = await Browser.signIn(services[0], email);
    expect(await home(), "a month later").not.toContain("an old token of it was used again");
  });

  it("is refused a step too late in the network of the last renewal, and ends nothing", async () => {
    const first = await connect();
    const latest = await renew((await renew(first.refresh_token)).refresh_token);
    clock.pass(7 * 24 * 60 * minute);
    const { status, headers, text } = await refresh(first.refresh_token);
    expect(status).toBe(400);
    expect(headers["cache-control"]).toContain("no-store");
    expect(JSON.parse(text)).toEqual({
      error: "invalid_grant",
      error_description:
        "It was used before, and the token that replaced it too. Use the newest one, which another process of yours may have stored.",
    });
    expect(await statuses(await renew(latest.refresh_token))).toEqual([200, 200]);
    // The network of the renewal counts, not that of the approval or of a refusal.
    const moved = tokensOf(await stolen((await renew(latest.refresh_token)).refresh_token));
    const last = tokensOf(await stolen(moved.refresh_token));
    clock.pass(2 * minute);
    expect((await stolen(latest.refresh_token)).status).toBe(400);
    expect(await statuses(last)).toEqual([200, 200]);
    expect(JSON.parse((await refresh(latest.refresh_token)).text)).toEqual(usedTwice);
    expect(await statuses(last)).toEqual([401, 401]);
  });

  it("renews for five processes that use it at once, again and again", async () => {
    let token = (await connect()).refresh_token;
    for (let round = 0; round < 5; round++) {
      const renewed = await Promise.all(Array.from({ length: 5 }, () => renew(token)));
      const [successor = "", ...others] = new Set(renewed.map(({ refresh_token }) => refresh_token));
      expect(others).toEqual([]);
      token = successor;
    }
    clock.pass(2 * minute);
    expect(await statuses(await renew(token))).toEqual([200, 200]);
  });

  describe("that a thief has copied", () => {
    it("shows: the one who is a step behind ends the session, and its owner gets a mail", async () => {
      const first = await connect();
      const apps = await renew(first.refresh_token);
      const thiefs = tokensOf(await stolen(first.refresh_token));
      expect(thiefs.refresh_token).toBe(apps.refresh_token);
      const latest = await renew((await renew(apps.refresh_token)).refresh_token);
      clock.pass(2 * minute);
      expect(JSON.parse((await stolen(thiefs.refresh_token)).text)).toEqual(usedTwice);
      expect(await statuses(latest)).toEqual([401, 401]);
      await eventually(async () =>
        expect((await mailsTo(services[0].dataDir, email)).map(({ subject }) => subject)).toContain(
          "An app was disconnected: someone may have copied its access",
        ),
      );
    });

    it("ends the session, or counts as earlier, if the app uses the successor at the same moment", async () => {
      for (let round = 0; round < 5; round++) {
        const first = await connect();
        const successor = await renew(first.refresh_token);
        clock.pass(2 * minute);
        const [apps, thiefs] = await Promise.all([
          refresh(successor.refresh_token),
          stolen(first.refresh_token),
        ]);
        const isAlive = thiefs.status === 200;
        expect(await statuses(successor)).toEqual(isAlive ? [200, 200] : [401, 401]);
        if (isAlive) expect(apps.status).toBe(200);
        // Once the successor was used, neither is right in the network of the other.
        const [late, elsewhere] = [await stolen(first.refresh_token), await refresh(first.refresh_token)];
        expect([late.status, elsewhere.status]).toEqual([400, 400]);
        expect(await statuses(successor)).toEqual([401, 401]);
      }
    });
  });

  describe("during an outage of the store", () => {
    const makeRequests = async () => {
      const { refresh_token } = await connect();
      const renewal = { grant_type: "refresh_token", refresh_token };
      return [renewal, await approvedCode(), await approvedDevice()];
    };
    const expectUnused = async (requests: Record<string, string>[]) => {
      for (const fields of requests) expect(await statuses(tokensOf(await ask(fields)))).toEqual([200, 200]);
      await takeErrors();
    };
    const failed = async (fields: Record<string, string>, at: Service) => {
      const { status, headers, text } = await ask(fields, at);
      expect(status, text).toBe(503);
      expect(Number(headers["retry-after"])).toBeGreaterThanOrEqual(5);
      expect(Number(headers["retry-after"])).toBeLessThanOrEqual(30);
      expect(JSON.parse(text)).toEqual({
        error: "temporarily_unavailable",
        error_description: expect.any(String),
      });
    };
    const takeErrors = async () => {
      for (const service of services) {
        // All earlier lines are in the log once a later one is.
        const id = randomUUID();
        await service.ask("/api/health", { headers: { "x-request-id": id } });
        await eventually(() => expect(service.log).toContain(id));
        const errors = new Set(service.takeErrors());
        errors.delete("unexpected failure");
        errors.delete("expired OAuth state could not be deleted");
        expect([...errors]).toEqual([]);
      }
    };

    it.each(["connect_state", "local_sessions"])(
      "that has lost %s, a request uses nothing up: the same one succeeds afterwards",
      async (table) => {
        const requests = await makeRequests();
        await stage.query(`ALTER TABLE ${table} RENAME TO away`);
        for (const fields of requests) for (const at of services) await failed(fields, at);
        await stage.query(`ALTER TABLE away RENAME TO ${table}`);
        await expectUnused(requests);
      },
    );

    it("that answers nothing, a request uses nothing up: the same one succeeds afterwards", async () => {
      const requests = await makeRequests();
      stage.freeze();
      await Promise.all(requests.flatMap((fields) => services.map((at) => failed(fields, at))));
      stage.thaw();
      await eventually(async () => {
        for (const at of services) expect((await at.ask("/ready")).status).toBe(200);
        for (const at of services) expect((await at.ask("/oauth/authorize?client_id=desk")).status).toBe(400);
      });
      await expectUnused(requests);
    });
  });
});
