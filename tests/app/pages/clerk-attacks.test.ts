import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ClerkInstance } from "@/tests/support/clerk-instance";
import { eventually } from "@/tests/support/databases";
import { engines, type Stage } from "@/tests/support/engines";
import { Service } from "@/tests/support/service";

const document = { accept: "text/html", "sec-fetch-dest": "document", "user-agent": "Mozilla/5.0" };

/*
 * The attacks of `sign-in-attacks`, `home-sessions` and `keys` under Clerk, which owns the browsers' sessions, while
 * programs' sessions are ours.
 */
describe.each(engines)("two instances under Clerk, on $name", (engine) => {
  let clerk: ClerkInstance;
  let stage: Stage;
  let one: Service;
  let other: Service;
  let account: string;

  beforeAll(async () => {
    clerk = await ClerkInstance.start();
    stage = await engine.prepare();
    const environment = { ...stage.environment, ...clerk.environment };
    one = await Service.start(environment);
    other = await Service.start(environment);
    const terms = ["--plan", "licensed", "--subject", "user_2ceo"];
    const added = await one.adminJson<{ id: string }>("account", "add", "ceo@example.com", ...terms);
    account = added.id;
  });
  afterAll(async () => {
    // The errors of the outage, which are logged in batches.
    await Promise.all([one, other].map((service) => service.stop({ expectErrors: true })));
    await clerk.stop();
    await stage.clear();
  });

  const ask = async (service: Service, headers: Record<string, string>) =>
    (await service.ask("/api/entitlement", { headers })).status;
  const askWith = (service: Service, token: string) => ask(service, { authorization: `Bearer ${token}` });
  /** The cookies of a browser that is signed in to a Clerk development instance. */
  const browser = () => {
    const uat = Math.floor(Date.now() / 1000) - 60;
    return { cookie: `__session=${clerk.mint()}; __client_uat=${uat}; __clerk_db_jwt=dvb_1` };
  };
  const copyToken = async (service = one): Promise<string> =>
    JSON.parse((await service.submit("/home/token", { account }, { headers: browser() })).text).token;
  const claimsOf = (token: string): { sid: string } =>
    JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
  const askBoth = async (token: string) => [await askWith(one, token), await askWith(other, token)];

  it("accept a program's token of the other instance, until its session expires or is ended", async () => {
    const [past, ended, standing] = [await copyToken(), await copyToken(other), await copyToken()];
    for (const token of [past, ended, standing]) expect(await askBoth(token)).toEqual([200, 200]);
    await stage.query(
      `UPDATE local_sessions SET expires_at_ms = ${Date.now()} WHERE id = '${claimsOf(past).sid}'`,
    );
    await one.adminJson("session", "end", "ceo@example.com", claimsOf(ended).sid);
    for (const token of [past, ended]) expect(await askBoth(token)).toEqual([401, 401]);
    expect(await askBoth(standing)).toEqual([200, 200]);
  });

  it("never return 401 while the keys are rotated twice", async () => {
    const tokens = [await copyToken()];
    const statuses = new Set<number>();
    let isOver = false;
    const load = [one, other].map(async (service) => {
      for (let sent = 0; !isOver; sent++) {
        statuses.add(await askWith(service, tokens[sent % tokens.length] ?? ""));
        statuses.add(await ask(service, browser()));
      }
    });
    for (let rotation = 0; rotation < 2; rotation++) {
      await one.adminJson("keys", "rotate");
      await stage.query("UPDATE signing_keys SET signs_from_ms = made_at_ms WHERE verifies_until_ms IS NULL");
      tokens.push(await copyToken(rotation === 0 ? one : other));
    }
    isOver = true;
    await Promise.all(load);
    expect([...statuses]).toEqual([200]);
  });

  it("refuse two session cookies, of which one may come from a neighbouring host", async () => {
    const foreign = clerk.mint({ sub: "user_2stranger", sid: "sess_2" });
    for (const cookie of [
      `__session=${clerk.mint()}; __session=${foreign}`,
      `__session=${foreign}; __session=${clerk.mint()}`,
    ])
      expect(await ask(one, { cookie })).toBe(401);
  });

  it("answer with an outage while the store is unavailable, and treat no one as signed out", async () => {
    const token = await copyToken();
    await stage.query("ALTER TABLE accounts RENAME TO accounts_away");
    const home = await one.ask("/home", { headers: { ...document, ...browser() } });
    const copied = await one.submit("/home/token", { account }, { headers: browser() });
    const signIn = await one.ask("/sign-in");
    const statuses = [...(await askBoth(token)), await ask(one, browser())];
    await stage.query("ALTER TABLE accounts_away RENAME TO accounts");
    expect(statuses).toEqual([503, 503, 503]);
    expect(home.status).toBe(200);
    expect(home.text).toContain("We cannot check your account at the moment");
    expect(home.text).toContain('http-equiv="refresh"');
    expect(copied.status).toBe(503);
    expect(signIn.status).toBe(200);
    expect(await askBoth(token)).toEqual([200, 200]);
    for (const service of [one, other]) await eventually(() => expect(service.takeErrors()).not.toEqual([]));
  });

  it("ignore a problem in the address that is not one of ours", async () => {
    for (const problem of ["__proto__", "constructor", "toString", "hasOwnProperty"])
      for (const page of ["/sign-in", "/waitlist", "/home?away"]) {
        const path = `${page}${page.includes("?") ? "&" : "?"}problem=${problem}`;
        const { status, text } = await one.ask(path, { headers: { ...document, ...browser() } });
        expect([200, 307], path).toContain(status);
        expect(text).not.toContain('role="alert"');
      }
  });
});
