import type { UserJSON, WebhookEvent } from "@clerk/backend";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Browser } from "@/tests/support/browser";
import { ClerkInstance, makeDeletedUser, makeUser } from "@/tests/support/clerk-instance";
import { makeClock } from "@/tests/support/clock";
import { engines, type Stage } from "@/tests/support/engines";
import { openidClient } from "@/tests/support/oauth-libraries";
import { answerShown, readQuestion } from "@/tests/support/owner";
import { Service } from "@/tests/support/service";

/* What ends here once it has ended at Clerk, and what whoever is signed in for an owner cannot do. */

type Event = Pick<WebhookEvent, "type" | "data">;

const hourMs = 60 * 60 * 1000;

describe.each(engines)("what Clerk ends, on $name", (engine) => {
  let stage: Stage;
  let clerk: ClerkInstance;
  let service: Service;
  const clock = makeClock();

  beforeAll(async () => {
    stage = await engine.prepare();
    clerk = await ClerkInstance.start();
    service = await Service.start({ ...stage.environment, ...clerk.environment, ...clock.environment });
  });
  afterAll(async () => {
    await service.stop();
    await clerk.stop();
    await stage.clear();
  });

  let owners = 0;
  /** An owner who is signed in, has copied a token for a program and let an app in. */
  async function admit() {
    const n = ++owners;
    const [sub, sid, email] = [`user_${n}`, `sess_of_${n}`, `ceo-${n}@example.com`];
    const terms = ["--plan", "licensed", "--subject", sub];
    const { id: account } = await service.adminJson<{ id: string }>("account", "add", email, ...terms);
    const mint = (claims: object = {}) => clerk.mint({ sub, sid, ...claims });
    const browser = new Browser(service);
    browser.cookies.set("__session", mint());
    const copied = await browser.submit("/home/token", { account });
    const program: string = JSON.parse(copied.text).token;
    const asked = await (await openidClient.makeApp(service)).ask();
    const path = asked.address.href.replace(service.url, "");
    await browser.open(path);
    await answerShown(browser);
    const back = String((await browser.open("/oauth/resume")).headers.location);
    const { access_token: app } = await asked.redeem(new URL(back));
    const statuses = async () => ({
      browser: await entitlement(mint()),
      program: await entitlement(program),
      app: await entitlement(app),
    });
    expect(await statuses()).toEqual({ browser: 200, program: 200, app: 200 });
    return { sub, sid, email, account, browser, path, mint, statuses };
  }

  const entitlement = async (token: string) =>
    (await service.ask("/api/entitlement", { headers: { authorization: `Bearer ${token}` } })).status;
  const deliver = async (event: object) => {
    const { status, text } = await clerk.deliver(service, event as Event);
    expect(status, text).toBe(204);
  };
  const update = ({ sub, email }: { sub: string; email: string }, atMs: number, changed: Partial<UserJSON>) =>
    deliver({ type: "user.updated", data: { ...makeUser(sub, email, atMs), ...changed } });
  const endSession = (type: string, { sid, sub }: { sid: string; sub: string }) =>
    deliver({ type, data: { object: "session", id: sid, user_id: sub, status: type.slice(8) } });
  const audit = (email: string) =>
    service.adminJson<{ who: string; what: string; after: object | null }[]>("audit", "list", "--of", email);

  const allOver = { browser: 401, program: 401, app: 401 };
  const allWell = { browser: 200, program: 200, app: 200 };

  it.each([
    ["bans a user", { banned: true }],
    ["locks a user", { locked: true, lockout_expires_in_seconds: 3600 }],
    ["locks a user for good", { locked: true, lockout_expires_in_seconds: null }],
  ])("is everything of an account, at once, when it %s", async (_, changed) => {
    const [owner, bystander] = [await admit(), await admit()];
    await update(owner, 2000, changed);
    expect(await owner.statuses()).toEqual(allOver);
    expect(await service.adminJson("session", "list", owner.email)).toEqual([]);
    expect(await audit(owner.email)).toContainEqual(
      expect.objectContaining({ who: "clerk", what: "user barred" }),
    );
    // Nor does anything begin.
    owner.browser.cookies.set("__session", owner.mint());
    await owner.browser.open(owner.path);
    expect((await owner.browser.open("/connect")).text).not.toContain('value="approve"');
    const { status } = await owner.browser.submit("/home/token", { account: owner.account });
    expect(status).toBe(401);
    expect(await bystander.statuses()).toEqual(allWell);
  });

  it("is over for good for what was connected, and not for the user whom it lets in again", async () => {
    const owner = await admit();
    await update(owner, 2000, { banned: true });
    await update(owner, 3000, { banned: false });
    expect(await owner.statuses()).toEqual({ ...allOver, browser: 200 });
  });

  it("is the same in whatever order it tells, and however often", async () => {
    const [barred, free] = [await admit(), await admit()];
    for (const atMs of [3000, 2000, 3000]) await update(barred, atMs, { banned: atMs === 3000 });
    expect(await barred.statuses()).toEqual(allOver);
    for (const atMs of [3000, 2000, 3000]) await update(free, atMs, { banned: atMs === 2000 });
    expect(await free.statuses()).toEqual(allWell);
    const two = await admit();
    for (const banned of [true, false]) await update(two, 4000, { banned });
    expect(await two.statuses(), "of two at one moment, the one that bars").toEqual(allOver);
  });

  it("is everything of a user whose email is not verified, too", async () => {
    const owner = await admit();
    const data = { ...makeUser(owner.sub, owner.email, 2000, "unverified"), banned: true };
    await deliver({ type: "user.updated", data });
    expect(await owner.statuses()).toEqual(allOver);
  });

  it("is everything of a user whom it deletes", async () => {
    const owner = await admit();
    await deliver({ type: "user.deleted", data: makeDeletedUser(owner.sub) });
    expect(await owner.statuses()).toEqual({ browser: 403, program: 403, app: 403 });
  });

  it.each(["session.ended", "session.removed"])(
    "is a session that is signed out, and the program that was handed its token: %s",
    async (type) => {
      const owner = await admit();
      await endSession(type, owner);
      expect(await owner.statuses()).toEqual({ ...allOver, app: 200 });
      const { status } = await owner.browser.submit("/home/token", { account: owner.account });
      expect(status).toBe(401);
      expect(await entitlement(owner.mint({ sid: "sess_another" })), "another of the same user").toBe(200);
      expect((await audit(owner.email))[0]).toMatchObject({ who: "clerk", what: "session ended" });
    },
  );

  it("is a session that is revoked, with the apps that were let in there", async () => {
    const owner = await admit();
    await endSession("session.revoked", owner);
    expect(await owner.statuses()).toEqual(allOver);
    expect((await audit(owner.email))[0]).toMatchObject({ who: "clerk", what: "session revoked" });
    await endSession("session.revoked", owner);
    expect((await audit(owner.email)).filter(({ what }) => what === "session revoked")).toHaveLength(1);
  });

  describe("whoever is signed in for an owner (impersonation)", () => {
    const act = { act: { iss: "https://dashboard.clerk.com", sub: "user_support" } };

    it("lets nobody in and is handed no token, and that it was tried is written down", async () => {
      const owner = await admit();
      owner.browser.cookies.set("__session", owner.mint(act));
      await owner.browser.open(owner.path);
      const { text } = await owner.browser.open("/connect");
      expect(text).toContain(`You are signed in for <strong>${owner.email}</strong>`);
      expect(text).not.toContain('value="approve"');
      const { request } = await readQuestion(owner.browser);
      const fields = { request, account: owner.account, answer: "approve" };
      expect((await owner.browser.submit("/connect/answer", fields)).status).toBe(403);
      const refused = await owner.browser.submit("/home/token", { account: owner.account });
      expect([refused.status, JSON.parse(refused.text).error.code]).toEqual([403, "forbidden"]);
      const by = { who: "impersonator user_support", after: { refused: true } };
      expect((await audit(owner.email)).slice(0, 2)).toMatchObject([
        { ...by, what: "token refused" },
        { ...by, what: "app approve refused" },
      ]);
      expect(await service.adminJson<object[]>("session", "list", owner.email)).toHaveLength(2);
    });

    it("reads what the owner reads, and what is ended is entered under both names", async () => {
      const owner = await admit();
      expect(await entitlement(owner.mint(act))).toBe(200);
      owner.browser.cookies.set("__session", owner.mint(act));
      const fields = { account: owner.account, session: "others" };
      await owner.browser.submit("/home/sessions/end", fields);
      expect((await audit(owner.email))[0]).toMatchObject({
        who: "impersonator user_support",
        what: "session end",
      });
    });

    it("is nobody where it is not said who", async () => {
      const owner = await admit();
      for (const act of ["user_support", {}, { sub: "" }, { sub: 1 }, null])
        expect(await entitlement(owner.mint({ act }))).toBe(401);
    });
  });

  // The last one: it moves the clock.
  it("comes back by itself when a lock has run out, of which nothing tells", async () => {
    const owner = await admit();
    await update(owner, 2000, { locked: true, lockout_expires_in_seconds: 3600 });
    clock.pass(hourMs + 1000);
    const [iat, exp] = [0, 60].map((later) => Math.floor((Date.now() + hourMs + 1000) / 1000) + later);
    const nbf = (iat ?? 0) - 10;
    expect(await entitlement(owner.mint({ iat, nbf, exp }))).toBe(200);
  });
});
