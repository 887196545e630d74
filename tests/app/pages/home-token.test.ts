import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Browser } from "@/tests/support/browser";
import { ClerkInstance } from "@/tests/support/clerk-instance";
import { engines, type Stage } from "@/tests/support/engines";
import { type Answer, Service } from "@/tests/support/service";

const readToken = ({ text }: Answer) => JSON.parse(text) as { token: string; expiresAt: string };
const claimsOf = (token: string) =>
  JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()) as Record<string, unknown>;

describe.each(engines)("POST /home/token under local sign-in, on $name", (engine) => {
  let stage: Stage;
  let service: Service;
  let browser: Browser;
  let accounts = 0;

  /** A browser that is signed in to an account of its own. */
  async function openNew(): Promise<Browser> {
    const email = `ceo${++accounts}@example.com`;
    await service.adminJson("account", "add", email, "--plan", "licensed");
    return Browser.signIn(service, email);
  }

  beforeAll(async () => {
    stage = await engine.prepare();
    service = await Service.start(stage.environment);
    browser = await openNew();
  });
  afterAll(async () => {
    await service.stop();
    await stage.clear();
  });

  const ask = async (token: string) =>
    (await service.ask("/api/entitlement", { headers: { authorization: `Bearer ${token}` } })).status;

  it("hands the browser that is signed in a token of an hour, with a session of its own", async () => {
    const answer = await browser.submit("/home/token");
    expect(answer.status).toBe(200);
    expect(answer.headers["cache-control"]).toBe("no-store");
    const { token, expiresAt } = readToken(answer);
    expect(Date.parse(expiresAt) - Date.now()).toBeGreaterThan(59 * 60 * 1000);
    expect(Date.parse(expiresAt) - Date.now()).toBeLessThanOrEqual(60 * 60 * 1000);
    const [own, program] = [claimsOf(browser.valueOf("__session")), claimsOf(token)];
    expect(program).toEqual({
      ...{ iss: own.iss, sub: own.sub, sid: expect.stringMatching(/^sess_/) },
      ...{ iat: expect.any(Number), nbf: program.iat, exp: Date.parse(expiresAt) / 1000 },
    });
    expect(program.sid).not.toBe(own.sid);
    expect(await ask(token)).toBe(200);
  });

  it("gives a program's token no successor, however it is sent and whatever goes along", async () => {
    const { token } = readToken(await browser.submit("/home/token"));
    const before = await stage.query("SELECT id FROM local_sessions");
    const attempts: Record<string, string>[] = [
      { authorization: `Bearer ${token}` },
      { cookie: `__session=${token}` },
      { cookie: `__session=${token}; office-client=${token}` },
      { authorization: `Bearer ${token}`, cookie: `__session=${token}` },
      // Even beside what a browser has.
      { authorization: `Bearer ${token}`, cookie: browser.cookie },
      { authorization: `Bearer ${browser.valueOf("__session")}`, cookie: browser.cookie },
    ];
    for (const headers of attempts) {
      const answer = await service.submit("/home/token", {}, { headers });
      const code = "authorization" in headers ? "forbidden" : "signed_out";
      expect(answer.status).toBe(code === "forbidden" ? 403 : 401);
      expect(JSON.parse(answer.text).error.code).toBe(code);
    }
    expect(await stage.query("SELECT id FROM local_sessions")).toEqual(before);
  });

  it("takes a session token of a minute for no browser, without the secret that renews it", async () => {
    const session = `__session=${browser.valueOf("__session")}`;
    const secret = `office-client=${browser.valueOf("office-client")}`;
    for (const cookie of [session, `${session}; office-client=x`, `${session}; ${secret}; ${secret}`, ""]) {
      expect((await service.submit("/home/token", {}, { headers: { cookie } })).status).toBe(401);
    }
    // A page that was left open without JavaScript has only that.
    expect((await service.submit("/home/token", {}, { headers: { cookie: secret } })).status).toBe(200);
  });

  it("says that it cannot tell while the store is away, and not that nobody is signed in", async () => {
    await stage.query("ALTER TABLE local_sessions RENAME TO local_sessions_away");
    const answer = await browser.submit("/home/token");
    await stage.query("ALTER TABLE local_sessions_away RENAME TO local_sessions");
    expect(answer.status).toBe(503);
    await expect.poll(() => service.takeErrors()).toEqual(["an owner could not be read"]);
    expect((await browser.submit("/home/token")).status).toBe(200);
  });

  it("ends the token with the session that it was made in, and no other's", async () => {
    const [one, other] = [
      await Browser.signIn(service, "ceo1@example.com"),
      await Browser.signIn(service, "ceo1@example.com"),
    ];
    const [mine, siblings] = [
      readToken(await one.submit("/home/token")).token,
      readToken(await other.submit("/home/token")).token,
    ];
    await one.submit("/sign-in/out");
    expect(await ask(mine)).toBe(401);
    expect(await ask(siblings)).toBe(200);
  });

  it("hands out no token that outlives the browser's session", async () => {
    const leaving = await openNew();
    const { sid } = claimsOf(leaving.valueOf("__session"));
    const endsAtMs = Date.now() + 10 * 60 * 1000;
    await stage.query(`UPDATE local_sessions SET expires_at_ms = ${endsAtMs} WHERE id = '${sid}'`);
    const { expiresAt } = readToken(await leaving.submit("/home/token"));
    expect(Date.parse(expiresAt)).toBe(Math.floor(endsAtMs / 1000) * 1000);
  });

  it("refuses a session that is over, to the browser and to what was made in it", async () => {
    const over = await openNew();
    const { token } = readToken(await over.submit("/home/token"));
    const { sid } = claimsOf(over.valueOf("__session"));
    await stage.query(`UPDATE local_sessions SET expires_at_ms = ${Date.now()} WHERE id = '${sid}'`);
    expect(await ask(over.valueOf("__session"))).toBe(401);
    expect((await over.submit("/home/token")).status).toBe(401);
    const { sid: programs } = claimsOf(token);
    await stage.query(`UPDATE local_sessions SET expires_at_ms = ${Date.now()} WHERE id = '${programs}'`);
    expect(await ask(token)).toBe(401);
  });
});

describe.each(engines)("POST /home/token under Clerk, on $name", (engine) => {
  let clerk: ClerkInstance;
  let stage: Stage;
  let service: Service;

  beforeAll(async () => {
    clerk = await ClerkInstance.start();
    stage = await engine.prepare();
    service = await Service.start({ ...stage.environment, ...clerk.environment });
    for (const name of ["ceo", "cfo"]) {
      const terms = ["--plan", "licensed", "--subject", `user_2${name}`];
      await service.adminJson("account", "add", `${name}@example.com`, ...terms);
    }
  });
  afterAll(async () => {
    await service.stop();
    await clerk.stop();
    await stage.clear();
  });

  const ask = async (token: string) =>
    (await service.ask("/api/entitlement", { headers: { authorization: `Bearer ${token}` } })).status;
  const mint = (headers: Record<string, string>) => service.submit("/home/token", {}, { headers });

  it("hands out a token of our own, which has a session of ours, and asks Clerk nothing", async () => {
    const answer = await mint({ cookie: `__session=${clerk.mint()}` });
    expect(answer.status).toBe(200);
    const { token } = readToken(answer);
    const claims = claimsOf(token);
    expect(claims).toMatchObject({ sub: "user_2ceo", iss: expect.stringMatching(/^urn:corner-office:/) });
    expect(await ask(token)).toBe(200);
    await service.adminJson("session", "end", "ceo@example.com", String(claims.sid));
    expect(await ask(token)).toBe(401);
    expect(await ask(clerk.mint())).toBe(200);
    expect(clerk.requests).toEqual([]);
  });

  it("gives a program's token no successor", async () => {
    const { token } = readToken(await mint({ cookie: `__session=${clerk.mint()}` }));
    const attempts: Record<string, string>[] = [
      { authorization: `Bearer ${token}` },
      { cookie: `__session=${token}` },
      { authorization: `Bearer ${token}`, cookie: `__session=${clerk.mint()}` },
      { authorization: `Bearer ${clerk.mint()}` },
    ];
    for (const headers of attempts) expect((await mint(headers)).status).toBe(403);
  });

  it("takes no token that Clerk's key signed in our name, nor one of ours in Clerk's", async () => {
    const { token } = readToken(await mint({ cookie: `__session=${clerk.mint()}` }));
    const { iss, sid } = claimsOf(token);
    const header = JSON.parse(Buffer.from(token.split(".")[0] ?? "", "base64url").toString());
    expect(await ask(clerk.mint({ iss, sid, azp: undefined }, { header }))).toBe(401);
    const [head, , signature] = token.split(".");
    const claims = { ...claimsOf(token), iss: `https://${clerk.frontendHost}` };
    const altered = `${head}.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.${signature}`;
    expect(await ask(altered)).toBe(401);
  });

  it("ends a program's session with its account", async () => {
    const { token } = readToken(await mint({ cookie: `__session=${clerk.mint({ sub: "user_2cfo" })}` }));
    await service.adminJson("account", "delete", "cfo@example.com");
    expect(await ask(token)).toBe(403);
    await service.adminJson("account", "add", "cfo@example.com", "--subject", "user_2cfo");
    expect(await ask(token)).toBe(401);
  });
});
