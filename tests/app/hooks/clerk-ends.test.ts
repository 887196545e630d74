import type { EmailAddressJSON, UserJSON, WebhookEvent } from "@clerk/backend";
import { decodeJwt } from "jose";
import { afterAll, describe, expect, it } from "vitest";
import { startService, startStage } from "@/tests/support/block";
import { Browser } from "@/tests/support/browser";
import { ClerkInstance, makeDeletedUser, makeUser } from "@/tests/support/clerk-instance";
import { engines } from "@/tests/support/engines";
import { makeApp } from "@/tests/support/oauth-libraries";
import { connectApp, readQuestion } from "@/tests/support/owner";

/* How users and sessions that end at Clerk end here, and what an impersonator cannot do. */

type Event = Pick<WebhookEvent, "type" | "data">;

describe.each(engines)("Clerk on $name", async (engine) => {
  const stage = await startStage(engine);
  const clerk = await ClerkInstance.start();
  afterAll(() => clerk.stop());
  const settings = { ...stage.environment, ...clerk.environment };
  const service = await startService(settings, { expectErrors: true });

  let owners = 0;
  /** Signs in an owner with a token for a program and a connected app. */
  async function addOwner() {
    const n = ++owners;
    const [sub, sid, email] = [`user_${n}`, `sess_of_${n}`, `ceo-${n}@example.com`];
    const terms = ["--plan", "licensed", "--subject", sub];
    const { id: account } = await service.adminJson<{ id: string }>("account", "add", email, ...terms);
    const mint = (claims: object = {}) => clerk.mint({ sub, sid, ...claims });
    const browser = new Browser(service);
    browser.cookies.set("__session", mint());
    const copyToken = async (claims: object = {}): Promise<string> => {
      const signedIn = new Browser(service);
      signedIn.cookies.set("__session", mint(claims));
      return JSON.parse((await signedIn.submit("/home/token", { account })).text).token;
    };
    const program = await copyToken();
    const client = await makeApp(service);
    const { access_token: app } = await connectApp(client, browser, service);
    const path = (await client.ask()).address.href.replace(service.url, "");
    const statuses = async () => ({
      browser: await entitlement(mint()),
      program: await entitlement(program),
      app: await entitlement(app),
    });
    expect(await statuses()).toEqual({ browser: 200, program: 200, app: 200 });
    return { sub, sid, email, account, browser, path, app, mint, copyToken, statuses };
  }

  const entitlement = (token: string) => service.statusFor(token);
  const deliver = async (event: object) => {
    const { status, text } = await clerk.deliver(service, event as Event);
    expect(status, text).toBe(204);
  };
  const update = ({ sub, email }: { sub: string; email: string }, atMs: number, changed: Partial<UserJSON>) =>
    deliver({ type: "user.updated", data: { ...makeUser(sub, email, atMs), ...changed } });
  const endSession = (type: string, { sid, sub }: { sid: string; sub: string }) =>
    deliver({ type, data: { object: "session", id: sid, user_id: sub, status: type.slice(8) } });

  const jörg = { ...makeUser("user_0", "jörg@example.com", 0).email_addresses[0] } as EmailAddressJSON;
  const allEnded = { browser: 401, program: 401, app: 401 };
  const allValid = { browser: 200, program: 200, app: 200 };

  it.each([
    ["bans a user", { banned: true }],
    ["bans a user whose email does not travel by mail", { banned: true, email_addresses: [jörg] }],
    ["bans a user whose addresses are of another shape", { banned: true, email_addresses: [{}] as never }],
  ])("ends all sessions of an account when it %s", async (_, changed) => {
    const [owner, bystander] = [await addOwner(), await addOwner()];
    await update(owner, 2000, changed);
    expect(await owner.statuses()).toEqual(allEnded);
    expect(await service.adminJson("session", "list", owner.email)).toEqual([]);
    expect(await service.audit(owner.email)).toContainEqual(
      expect.objectContaining({ who: "clerk", what: "user barred" }),
    );
    // New sessions and approvals are refused too.
    owner.browser.cookies.set("__session", owner.mint());
    await owner.browser.open(owner.path);
    const question = (await owner.browser.open("/connect")).text;
    expect(question).not.toContain('value="approve"');
    expect(question).toContain(
      '<p class="problem">Your sign-in is blocked by the people who run this service.</p>',
    );
    const { status } = await owner.browser.submit("/home/token", { account: owner.account });
    expect(status).toBe(403);
    // Clerk's page of sign-in leads who has a session there to home: that must not lead to sign-in.
    const home = await owner.browser.open("/home");
    expect([home.status, home.text]).toEqual([
      403,
      expect.stringContaining('<div class="home"><div class="narrow"><h1>Your sign-in is blocked</h1>'),
    ]);
    expect(await bystander.statuses()).toEqual(allValid);
  });

  // Strangers cause it, by wrong codes.
  it.each([3600, null])("ends nothing of a user who is locked for %j seconds", async (seconds) => {
    const owner = await addOwner();
    await update(owner, 2000, { locked: true, lockout_expires_in_seconds: seconds });
    expect(await owner.statuses()).toEqual(allValid);
    owner.browser.cookies.set("__session", owner.mint());
    await owner.browser.open(owner.path);
    expect((await owner.browser.open("/connect")).text).toContain('value="approve"');
  });

  it("lets an unbanned user in again, but not their programs and apps", async () => {
    const owner = await addOwner();
    await update(owner, 2000, { banned: true });
    await update(owner, 3000, { banned: false });
    expect(await owner.statuses()).toEqual({ ...allEnded, browser: 200 });
  });

  it("bans and unbans independently of the order and repetition of events", async () => {
    const [barred, free] = [await addOwner(), await addOwner()];
    for (const atMs of [3000, 2000, 3000]) await update(barred, atMs, { banned: atMs === 3000 });
    expect(await barred.statuses()).toEqual(allEnded);
    for (const atMs of [3000, 2000, 3000]) await update(free, atMs, { banned: atMs === 2000 });
    expect(await free.statuses()).toEqual(allValid);
    const two = await addOwner();
    for (const banned of [true, false]) await update(two, 4000, { banned });
    expect(await two.statuses(), "of two events at the same time, the ban").toEqual(allEnded);
  });

  it("ends all sessions of a banned user whose email is not verified", async () => {
    const owner = await addOwner();
    const data = { ...makeUser(owner.sub, owner.email, 2000, "unverified"), banned: true };
    await deliver({ type: "user.updated", data });
    expect(await owner.statuses()).toEqual(allEnded);
  });

  it("ends the access of a deleted user", async () => {
    const owner = await addOwner();
    await deliver({ type: "user.deleted", data: makeDeletedUser(owner.sub) });
    expect(await owner.statuses()).toEqual({ browser: 403, program: 403, app: 403 });
  });

  it.each(["session.ended", "session.removed"])(
    "ends the session and its program's token: %s",
    async (type) => {
      const owner = await addOwner();
      const another = { sid: "sess_another" };
      const program = await owner.copyToken(another);
      await endSession(type, owner);
      expect(await owner.statuses()).toEqual({ ...allEnded, app: 200 });
      const { status } = await owner.browser.submit("/home/token", { account: owner.account });
      expect(status).toBe(401);
      for (const token of [owner.mint(another), program])
        expect(await entitlement(token), "another session of the user").toBe(200);
      expect((await service.audit(owner.email))[0]).toMatchObject({ who: "clerk", what: "session ended" });
    },
  );

  it("ends a revoked session with the apps that were approved in it", async () => {
    const owner = await addOwner();
    await endSession("session.revoked", owner);
    expect(await owner.statuses()).toEqual(allEnded);
    expect((await service.audit(owner.email))[0]).toMatchObject({ who: "clerk", what: "session revoked" });
    await endSession("session.revoked", owner);
    expect((await service.audit(owner.email)).filter(({ what }) => what === "session revoked")).toHaveLength(
      1,
    );
  });

  it("signs no one out while the store is away", async () => {
    const owner = await addOwner();
    await stage.query("ALTER TABLE accounts RENAME TO accounts_away");
    const away = await owner.statuses();
    const uat = Math.floor(Date.now() / 1000) - 60;
    const cookie = `__session=${owner.mint()}; __client_uat=${uat}; __clerk_db_jwt=dvb_1`;
    const document = { accept: "text/html", "sec-fetch-dest": "document", "user-agent": "Mozilla/5.0" };
    const home = await service.ask("/home", { headers: { ...document, cookie } });
    await stage.query("ALTER TABLE accounts_away RENAME TO accounts");
    expect(away).toEqual({ browser: 503, program: 503, app: 503 });
    expect(home.status).toBe(200);
    expect(home.text).toContain("We cannot check your account at the moment");
    expect(await owner.statuses()).toEqual(allValid);
  });

  it("leaves programs a token and a session of ours, which buys no other token", async () => {
    const { account, app, browser, email, mint } = await addOwner();
    const asked = clerk.requests.length;
    browser.cookies.set("__session", mint());
    const { token } = JSON.parse((await browser.submit("/home/token", { account })).text);
    const claims = decodeJwt(token);
    expect(claims.iss).toMatch(/^urn:corner-office:/);
    for (const headers of [
      { authorization: `Bearer ${token}` },
      { cookie: `__session=${token}` },
      { authorization: `Bearer ${token}`, cookie: `__session=${mint()}` },
      { authorization: `Bearer ${mint()}` },
    ])
      expect((await service.submit("/home/token", { account }, { headers })).status).toBe(403);
    for (const headers of [{ authorization: `Bearer ${app}` }, { cookie: `__session=${app}` }])
      expect((await service.ask("/home", { headers })).text, "an app's token opens no page").not.toContain(
        email,
      );
    await service.adminJson("session", "end", email, String(claims.sid));
    expect([await entitlement(token), await entitlement(mint())]).toEqual([401, 200]);
    await browser.submit("/home/sessions/end", { account, session: "tokens" });
    const left = await service.adminJson<{ kind: string }[]>("session", "list", email);
    expect(left, "Clerk owns the browsers'").toMatchObject([{ kind: "app" }]);
    expect(clerk.requests.length, "Clerk is not asked").toBe(asked);
  });

  describe("an impersonator", () => {
    const act = { act: { iss: "https://dashboard.clerk.com", sub: "user_support" } };

    it("cannot approve an app", async () => {
      const owner = await addOwner();
      owner.browser.cookies.set("__session", owner.mint(act));
      await owner.browser.open(owner.path);
      const { text } = await owner.browser.open("/connect");
      expect(text).toContain(`You are signed in on behalf of <strong>${owner.email}</strong>`);
      expect(text).not.toContain('value="approve"');
      const { request } = await readQuestion(owner.browser);
      const fields = { request, account: owner.account, answer: "approve" };
      expect((await owner.browser.submit("/connect/answer", fields)).status).toBe(403);
      const by = { who: "impersonator user_support", after: { refused: true } };
      expect((await service.audit(owner.email))[0]).toMatchObject({ ...by, what: "app approve refused" });
    });

    it("can read like the owner, and is named in the audit when ending sessions", async () => {
      const owner = await addOwner();
      expect(await entitlement(owner.mint(act))).toBe(200);
      owner.browser.cookies.set("__session", owner.mint(act));
      const fields = { account: owner.account, session: "apps" };
      await owner.browser.submit("/home/sessions/end", fields);
      expect((await service.audit(owner.email))[0]).toMatchObject({
        who: "impersonator user_support",
        what: "session end",
      });
    });

    it("gets 401 without an id", async () => {
      const owner = await addOwner();
      for (const act of ["user_support", {}, { sub: "" }, { sub: 1 }, null])
        expect(await entitlement(owner.mint({ act }))).toBe(401);
    });
  });
});
