import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Browser } from "@/tests/support/browser";
import { ClerkInstance } from "@/tests/support/clerk-instance";
import { engines, type Stage } from "@/tests/support/engines";
import { type Answer, Service } from "@/tests/support/service";

type Listed = { id: string; kind: string; name: string };

const email = "ceo@example.com";
const endPath = "/home/sessions/end";
const ended = "/home?ended#sessions";
const dayMs = 24 * 60 * 60 * 1000;

/** What the page says of each session, as a person reads it, by the id that its button names. */
function readRows({ text }: Answer): { words: string; id: string | undefined }[] {
  return [...text.matchAll(/<ul class="sessions">.*?<\/ul>/gs)]
    .flatMap(([list]) => [...list.matchAll(/<li>(.*?)<\/li>/gs)])
    .map(([, row = ""]) => ({
      id: /<button[^>]* value="([^"]+)"/.exec(row)?.[1],
      words: row
        .replace(/<form.*/s, "")
        .replace(/<[^>]+>/g, "")
        .trim(),
    }));
}

const copyToken = async (browser: Browser) =>
  (JSON.parse((await browser.submit("/home/token")).text) as { token: string }).token;

describe.each(engines)("the sessions on /home under local sign-in, on $name", (engine) => {
  let stage: Stage;
  let service: Service;
  let apps = 0;

  beforeAll(async () => {
    stage = await engine.prepare();
    service = await Service.start(stage.environment);
    await service.adminJson("account", "add", email, "--plan", "licensed");
    await service.adminJson("account", "add", "other@example.com", "--plan", "licensed");
  });
  afterAll(async () => {
    await service.stop();
    await stage.clear();
  });

  const entitlement = async (token: string) =>
    (await service.ask("/api/entitlement", { headers: { authorization: `Bearer ${token}` } })).status;
  const list = (of = email) => service.adminJson<Listed[]>("session", "list", of);
  /** Lets in an app, as its owner's click does. */
  const connectApp = () => {
    const nowMs = Date.now();
    return stage.query(
      `INSERT INTO local_sessions (id, account_id, kind, name, begun_at_ms, last_seen_at_ms, expires_at_ms)
       SELECT 'sess_app${++apps}', id, 'app', 'Studio <b>5</b>', ${nowMs - 3 * dayMs}, ${nowMs - 2 * dayMs - 1000}, ${nowMs + dayMs}
       FROM accounts WHERE email = '${email}'`,
    );
  };

  it("say what each is, since when, last used when and until when, and which is this browser", async () => {
    const [own, other] = [await Browser.signIn(service, email), await Browser.signIn(service, email)];
    await copyToken(own);
    await connectApp();
    const rows = readRows(await own.open("/home"));
    const moment = String.raw`\d+ \w+ at \d\d:\d\d UTC`;
    const day = new Date().toLocaleDateString("en-GB", { day: "numeric", month: "long", timeZone: "UTC" });
    expect(rows.map(({ words }) => words)).toEqual([
      expect.stringMatching(
        `^Studio &lt;b&gt;5&lt;/b&gt; Since ${moment}, used 2 days ago, until ${moment}$`,
      ),
      expect.stringMatching(`^Token copied on ${day} Since ${moment}, not used yet, until ${moment}$`),
      expect.stringMatching(`^Chromium on Linux Since ${moment}, not used yet, until ${moment}$`),
      expect.stringMatching(`^Chromium on Linux This browserSince ${moment}, in use now, until ${moment}$`),
    ]);
    expect(rows.map(({ id }) => id !== undefined)).toEqual([true, true, true, false]);
    await other.submit("/sign-in/out");
    await own.submit("/sign-in/out");
    await service.adminJson("session", "end", email, "--all");
  });

  it("end one by one, app or program or browser, with the next request", async () => {
    const [own, other] = [await Browser.signIn(service, email), await Browser.signIn(service, email)];
    const token = await copyToken(own);
    await connectApp();
    for (const { id, kind } of await list()) {
      if (kind === "browser") continue;
      expect((await own.submit(endPath, { session: id })).headers.location).toBe(ended);
    }
    expect((await list()).map(({ kind }) => kind)).toEqual(["browser", "browser"]);
    expect(await entitlement(token)).toBe(401);
    const [named] = readRows(await own.open("/home")).flatMap(({ id }) => id ?? []);
    await own.submit(endPath, { session: String(named) });
    expect(await entitlement(other.valueOf("__session"))).toBe(401);
    expect((await other.open("/sign-in/renew")).headers.location).toMatch(/^\/sign-in/);
    expect(await entitlement(own.valueOf("__session"))).toBe(200);
    expect((await own.open("/home?ended")).text).toContain("Ended. Its next request is refused.");
  });

  it("end all others at once, and this browser goes on", async () => {
    const [own, other] = [await Browser.signIn(service, email), await Browser.signIn(service, email)];
    const [mine, theirs] = [await copyToken(own), await copyToken(other)];
    await connectApp();
    expect((await own.submit(endPath, { session: "others" })).headers.location).toBe(ended);
    for (const token of [mine, theirs, other.valueOf("__session")])
      expect(await entitlement(token)).toBe(401);
    expect(await entitlement(own.valueOf("__session"))).toBe(200);
    expect(await list()).toMatchObject([{ kind: "browser" }]);
  });

  it("are ended by their owner's own page alone", async () => {
    const own = await Browser.signIn(service, email);
    const stranger = await Browser.signIn(service, "other@example.com");
    const token = await copyToken(own);
    const before = await list();
    const [{ id } = { id: "" }] = before;
    const fields = [{ session: id }, { session: "others" }, {}, { session: "" }, { session: "' OR 1=1 --" }];
    for (const sent of fields as Record<string, string>[]) {
      expect((await stranger.submit(endPath, sent)).status).toBe(303);
      expect((await own.submit(endPath, sent, { origin: "https://evil.example" })).status).toBe(403);
      const bearer = { headers: { authorization: `Bearer ${token}` } };
      expect((await service.submit(endPath, sent, bearer)).status).toBe(403);
      const cookie = { headers: { cookie: `__session=${token}` } };
      const { location } = (await service.submit(endPath, sent, cookie)).headers;
      expect(location).toBe("/sign-in?problem=ended");
    }
    for (const sent of fields.slice(2)) await own.submit(endPath, sent as Record<string, string>);
    expect((await service.ask(endPath, { headers: { cookie: own.cookie } })).status).toBe(405);
    expect(await list()).toEqual(before);
    expect(await entitlement(token)).toBe(200);
  });

  it("are shown to no program that was given a token", async () => {
    const own = await Browser.signIn(service, email);
    const cookie = `__session=${await copyToken(own)}`;
    const { text } = await service.ask("/home", { headers: { cookie } });
    expect(text).toContain(email);
    expect(text).not.toContain("Where you are signed in");
  });
});

describe.each(engines)("the sessions on /home under Clerk, on $name", (engine) => {
  it("are those of apps and programs; Clerk keeps the browsers", async () => {
    const clerk = await ClerkInstance.start();
    const stage = await engine.prepare();
    const service = await Service.start({ ...stage.environment, ...clerk.environment });
    await service.adminJson("account", "add", email, "--plan", "licensed", "--subject", "user_2ceo");
    const headers = () => ({ cookie: `__session=${clerk.mint()}` });
    const mint = async () => {
      const { status, text } = await service.submit("/home/token", {}, { headers: headers() });
      expect(status).toBe(200);
      return (JSON.parse(text) as { token: string }).token;
    };
    const ask = async (token: string) =>
      (await service.ask("/api/entitlement", { headers: { authorization: `Bearer ${token}` } })).status;
    const tokens = [await mint(), await mint(), await mint()];
    const [{ id } = { id: "" }] = await service.adminJson<Listed[]>("session", "list", email);
    expect((await service.submit(endPath, { session: id }, { headers: headers() })).headers.location).toBe(
      ended,
    );
    const statuses = await Promise.all(tokens.map(ask));
    expect(statuses.filter((status) => status === 401)).toHaveLength(1);
    const byProgram = { cookie: `__session=${tokens[statuses.indexOf(200)]}` };
    expect((await service.submit(endPath, { session: "others" }, { headers: byProgram })).status).toBe(403);
    await service.submit(endPath, { session: "others" }, { headers: headers() });
    expect(await service.adminJson("session", "list", email)).toEqual([]);
    for (const token of tokens) expect(await ask(token)).toBe(401);
    expect(await ask(clerk.mint())).toBe(200);
    await service.stop();
    await clerk.stop();
    await stage.clear();
  });
});
