import { decodeJwt } from "jose";
import { beforeEach, describe, expect, it } from "vitest";
import { dayMs } from "@/lib/config/durations";
import { borrowService } from "@/tests/support/block";
import { Browser } from "@/tests/support/browser";
import { engines } from "@/tests/support/engines";
import type { Answer } from "@/tests/support/service";

type Listed = { id: string; kind: string; name: string; endsAt: string; lastDate: string };

const email = "ceo@example.com";
const endPath = "/home/sessions/end";
const ended = "/home/access?ended#ended";
const developersPath = "/home/access/developers";

/** The visible text of each session on the page, with the id that its form sends. */
function readRows({ text }: Answer): { words: string; id: string | undefined }[] {
  return [...text.matchAll(/<ul class="rows joined">.*?<\/ul>/gs)]
    .flatMap(([list]) => [...list.matchAll(/<li[^>]*>(.*?)<\/li>/gs)])
    .map(([, row = ""]) => ({
      id: /name="session" value="([^"]+)"/.exec(row)?.[1],
      words: row
        .replace(/<form.*/s, "")
        .replace(/<[^>]+>/g, "")
        .trim(),
    }));
}

const readToken = ({ text }: Answer) => JSON.parse(text) as { token: string; expiresAt: string };
const copyToken = async (browser: Browser) => readToken(await browser.pressAtHome("/home/token")).token;

describe.each(engines)("under local sign-in, on $name", async (engine) => {
  const { stage, service } = await borrowService(engine);
  for (const each of [email, "other@example.com"])
    await service.adminJson("account", "add", each, "--plan", "licensed");
  let accounts = 0;
  let apps = 0;

  /** A browser that is signed in to a new account. */
  const openNew = () => Browser.admit(service, `ceo${++accounts}@example.com`, "--plan", "licensed");

  const auditedAccount = async (of: string) =>
    (await service.adminJson<{ id: string }>("account", "show", of)).id;
  const ask = (token: string) => service.statusFor(token);

  describe("POST /home/token", () => {
    it("returns a token valid for an hour, with its own session, to a signed-in browser", async () => {
      const browser = await openNew();
      const answer = await browser.pressAtHome("/home/token");
      expect(answer.status).toBe(200);
      expect(answer.headers["cache-control"]).toBe("no-store");
      const { token, expiresAt } = readToken(answer);
      expect(Date.parse(expiresAt) - Date.now()).toBeGreaterThan(59 * 60 * 1000);
      expect(Date.parse(expiresAt) - Date.now()).toBeLessThanOrEqual(60 * 60 * 1000);
      const [own, program] = [decodeJwt(browser.valueOf("__session")), decodeJwt(token)];
      expect(program).toEqual({
        iss: own.iss,
        sub: own.sub,
        sid: expect.stringMatching(/^sess_/),
        iat: expect.any(Number),
        nbf: program.iat,
        exp: Date.parse(expiresAt) / 1000,
      });
      expect(program.sid).not.toBe(own.sid);
      expect(await ask(token)).toBe(200);
    });

    it("accepts the secret that renews a session alone, which a page left open without JavaScript sends", async () => {
      const cookie = `office-client=${(await openNew()).valueOf("office-client")}`;
      const account = await auditedAccount(`ceo${accounts}@example.com`);
      const left = await service.submit("/home/token", { account }, { headers: { cookie } });
      expect(left.status).toBe(200);
    });

    it("revokes the token with the session that it was made in, and only that one", async () => {
      const [one, other] = [await Browser.signIn(service, email), await Browser.signIn(service, email)];
      const [mine, siblings] = [await copyToken(one), await copyToken(other)];
      await one.submit("/sign-in/out");
      expect(await ask(mine)).toBe(401);
      expect(await ask(siblings)).toBe(200);
    });

    it("returns no token that outlives the browser's session", async () => {
      const leaving = await openNew();
      const { sid } = decodeJwt(leaving.valueOf("__session"));
      const endsAtMs = Date.now() + 10 * 60 * 1000;
      await stage.query(
        `UPDATE local_sessions SET expires_at_ms = ${endsAtMs}, last_date_ms = ${endsAtMs} WHERE id = '${sid}'`,
      );
      const { expiresAt } = readToken(await leaving.pressAtHome("/home/token"));
      expect(Date.parse(expiresAt)).toBe(Math.floor(endsAtMs / 1000) * 1000);
    });

    it("refuses an expired session to the browser and to tokens made in it", async () => {
      const over = await openNew();
      const token = await copyToken(over);
      const { sid } = decodeJwt(over.valueOf("__session"));
      await stage.query(`UPDATE local_sessions SET expires_at_ms = ${Date.now()} WHERE id = '${sid}'`);
      expect(await ask(over.valueOf("__session"))).toBe(401);
      expect((await over.submit("/home/token")).status).toBe(401);
      const { sid: programs } = decodeJwt(token);
      await stage.query(`UPDATE local_sessions SET expires_at_ms = ${Date.now()} WHERE id = '${programs}'`);
      expect(await ask(token)).toBe(401);
    });
  });

  it("ends the oldest token when an account has 100 sessions, and tells its owner", async () => {
    const owner = await openNew();
    const of = `ceo${accounts}@example.com`;
    const tokens = [await copyToken(owner), await copyToken(owner)];
    const nowMs = Date.now();
    const rows = Array.from({ length: 96 }, (_, at) => {
      const begun = nowMs - (at === 0 ? 30 : 10) * 60_000;
      return `SELECT 'sess_many${accounts}-${at}', id, 'program', 'Token ${at}', ${begun}, ${nowMs + 3_000_000} FROM accounts WHERE email = '${of}'`;
    });
    await stage.query(
      `INSERT INTO local_sessions (id, account_id, kind, name, begun_at_ms, expires_at_ms) ${rows.join(" UNION ALL ")}`,
    );
    tokens.push(await copyToken(owner));
    expect(await service.adminJson("session", "list", of)).toHaveLength(100);
    tokens.push(...(await Promise.all([1, 2, 3, 4].map(() => copyToken(owner)))));
    const left = (await service.adminJson<Listed[]>("session", "list", of)).map(({ name }) => name);
    expect(left).toHaveLength(100);
    expect(left).not.toContain("Token 0");
    expect(await Promise.all(tokens.map(ask))).toEqual(tokens.map(() => 200));
    const entries = (await service.audit(of)).filter(({ what }) => what === "session limit");
    expect(entries.map(({ who, before }) => [who, Object.keys(before ?? {}).length])).toEqual(
      Array(4).fill(["service", 1]),
    );
    expect(JSON.stringify(entries)).toContain("Token 0");
    const { text } = await owner.open(developersPath);
    expect(text.replaceAll("<!-- -->", "")).toContain("the oldest 4 ended to make room for a new one.");
    expect(readRows({ text } as Answer)).toHaveLength(99);
    const shown = text.replaceAll("<!-- -->", "").match(/<summary>Show \d+ more<\/summary>/g);
    expect(shown, "20 at once").toEqual(
      [79, 59, 39, 19].map((left) => `<summary>Show ${left} more</summary>`),
    );
    const { status, text: exported } = await owner.pressAtHome("/home/export");
    expect(status).toBe(200);
    expect(JSON.parse(exported).sessions).toHaveLength(100);
  });

  it("ends the app that was unused for the longest time where there is no token", async () => {
    await openNew();
    const of = `ceo${accounts}@example.com`;
    const nowMs = Date.now();
    const agoMs = (minutes: number) => nowMs - minutes * 60_000;
    const rows = Array.from({ length: 99 }, (_, at) => {
      const [begun, used] = at === 0 ? [agoMs(90), agoMs(1)] : [agoMs(80), agoMs(at === 50 ? 70 : 60)];
      return `SELECT 'sess_app${accounts}-${at}', id, 'app', 'App ${at}', ${begun}, ${used}, ${nowMs + dayMs} FROM accounts WHERE email = '${of}'`;
    });
    await stage.query(
      `INSERT INTO local_sessions (id, account_id, kind, name, begun_at_ms, last_seen_at_ms, expires_at_ms) ${rows.join(" UNION ALL ")}`,
    );
    const signIn = async () => {
      await Browser.signIn(service, of);
      return (await service.adminJson<Listed[]>("session", "list", of)).map(({ name }) => name);
    };
    const left = await signIn();
    expect(left).toHaveLength(100);
    expect(left).toContain("App 0");
    expect(left).not.toContain("App 50");
    await stage.query(
      `UPDATE local_sessions SET kind = 'program', begun_at_ms = ${agoMs(2)} WHERE id = 'sess_app${accounts}-7'`,
    );
    expect(await signIn(), "a new token before an old app").not.toContain("App 7");
  });

  describe("the sessions on /home", () => {
    const list = (of = email) => service.adminJson<Listed[]>("session", "list", of);
    /** Connects an app, as its owner's click does. */
    const connectApp = () => {
      const nowMs = Date.now();
      return stage.query(
        `INSERT INTO local_sessions (id, account_id, kind, name, begun_at_ms, last_seen_at_ms, expires_at_ms)
       SELECT 'sess_app${++apps}', id, 'app', 'Studio <b>5</b>', ${nowMs - 3 * dayMs}, ${nowMs - 2 * dayMs - 1000}, ${nowMs + dayMs}
       FROM accounts WHERE email = '${email}'`,
      );
    };

    beforeEach(async () => {
      await service.adminJson("session", "end", email, "--all");
    });

    it("show each session's kind, start, last use and expiry, and mark this browser", async () => {
      const own = await Browser.signIn(service, email);
      const other = await Browser.signIn(service, email);
      await copyToken(own);
      await connectApp();
      const pages = [await own.open("/home/access"), await own.open(developersPath)];
      const rows = pages.flatMap(readRows);
      const moment = String.raw`\d+ \w+ at \d\d:\d\d UTC`;
      const date = String.raw`\d+ \w+ \d{4} UTC`;
      const aDay = String.raw`\d+ \w+ UTC`;
      const end = `Ends${moment} without further use, on ${date} at the latest`;
      const day = new Date().toLocaleDateString("en-GB", { day: "numeric", month: "long", timeZone: "UTC" });
      const from = (browser: Browser) => `from ${browser.address.replace(/\d+$/, "0/24")}`;
      expect(rows.map(({ words }) => words)).toEqual([
        expect.stringMatching(
          `^Studio &lt;b&gt;5&lt;/b&gt; used 2 days ago · until ${aDay}Approved${moment}Ends${moment}$`,
        ),
        expect.stringMatching(
          `^Chromium on Linux This browseractive now · until ${aDay} if unusedSigned in${moment} ${from(own)}${end}$`,
        ),
        expect.stringMatching(
          `^Chromium on Linux, 2 of 2 not used since it signed in · until ${aDay} if unusedSigned in${moment} ${from(other)}${end}$`,
        ),
        expect.stringMatching(
          `^Token copied on ${day} not used yet · until \\d\\d:\\d\\d UTCCopied${moment} in Chromium on Linux ${from(own)}Ends${moment}$`,
        ),
      ]);
      expect(rows.map(({ id }) => id !== undefined)).toEqual([true, false, true, true]);
      const { endsAt, lastDate } = (await list()).find(({ kind }) => kind === "browser") ?? expect.fail();
      const days = [endsAt, lastDate].map((at) => Math.round((Date.parse(at) - Date.now()) / dayMs));
      expect(days, "without use, and at the latest").toEqual([30, 90]);
    });

    it("end one by one, whether app, program or browser, from the next request on", async () => {
      const [own, other] = [await Browser.signIn(service, email), await Browser.signIn(service, email)];
      const token = await copyToken(own);
      await connectApp();
      for (const { id, kind } of await list()) {
        if (kind === "browser") continue;
        expect((await own.pressAtHome(endPath, { session: id })).headers.location).toBe(ended);
      }
      expect((await list()).map(({ kind }) => kind)).toEqual(["browser", "browser"]);
      expect(await ask(token)).toBe(401);
      const [named] = readRows(await own.open("/home/access")).flatMap(({ id }) => id ?? []);
      await own.pressAtHome(endPath, { session: String(named) });
      expect(await ask(other.valueOf("__session"))).toBe(401);
      expect((await other.post("/sign-in/renew")).status).toBe(401);
      expect(await ask(own.valueOf("__session"))).toBe(200);
      expect((await own.open("/home/access?ended")).text).toContain("Disconnected. It no longer has access.");
    });

    it("end by kind, each with a button of its own, except this browser's", async () => {
      const [own, other] = [await Browser.signIn(service, email), await Browser.signIn(service, email)];
      const [mine, theirs] = [await copyToken(own), await copyToken(other)];
      await connectApp();
      const operators = await service.token(email);
      const page = (await own.open("/home/access")).text + (await own.open(developersPath)).text;
      const names = [...page.matchAll(/aria-label="((?:Disconnect|End|Sign out) [^"]+)"/g)].map(
        ([, name]) => name,
      );
      expect(names).toHaveLength(4);
      expect(new Set(names).size, "a name of its own").toBe(names.length);
      expect(page).toContain("Sign out of all other browsers");
      expect(page).toContain("Sign out of 1 browser");
      expect(page).toContain("Disconnect 1 app");
      expect(page).toContain("End 3 tokens");
      expect(page).toContain("End 1 token that we made for you");
      const end = (session: string) => own.pressAtHome(endPath, { session });
      expect((await end("browsers")).headers.location).toBe("/home/access?ended=browsers#ended");
      for (const token of [theirs, other.valueOf("__session")]) expect(await ask(token)).toBe(401);
      const kinds = async () => (await list()).map(({ kind }) => kind).sort();
      expect(await kinds()).toEqual(["app", "browser", "program", "program"]);
      expect((await end("operator-tokens")).headers.location).toBe(
        `${developersPath}?ended=operator-tokens#ended`,
      );
      expect([await ask(mine), await ask(operators)]).toEqual([200, 401]);
      expect((await end("tokens")).headers.location).toBe(`${developersPath}?ended=tokens#ended`);
      expect(await ask(mine)).toBe(401);
      expect((await end("apps")).headers.location).toBe("/home/access?ended=apps#ended");
      expect(await kinds()).toEqual(["browser"]);
      expect(await ask(own.valueOf("__session"))).toBe(200);
    });

    it("are ended by no other owner, and by no word that names none", async () => {
      const own = await Browser.signIn(service, email);
      const stranger = await Browser.signIn(service, "other@example.com");
      const token = await copyToken(own);
      const before = await list();
      const none = [{}, { session: "" }, { session: "' OR 1=1 --" }] as Record<string, string>[];
      for (const sent of [{ session: before[0]?.id ?? "" }, { session: "tokens" }, ...none])
        expect((await stranger.pressAtHome(endPath, sent)).status).toBe(303);
      for (const sent of none) await own.pressAtHome(endPath, sent);
      expect(await list()).toEqual(before);
      expect(await ask(token)).toBe(200);
    });

    it("are those of the account that the page names, also if another's session was planted", async () => {
      const own = await Browser.signIn(service, email);
      const stranger = await Browser.signIn(service, "other@example.com");
      const [account, others] = [await auditedAccount(email), await auditedAccount("other@example.com")];
      expect((await own.open("/home/access?problem=account")).text).toContain(
        "You are now signed in to a different account",
      );
      const planted = {
        cookie: `${own.cookie.replace(/__session=[^;]*/, "")}; __session=${stranger.valueOf("__session")}`,
      };
      const { text } = await service.ask("/home/access", { headers: planted });
      expect(text).toContain(`name="account" value="${others}"`);
      expect(text).not.toContain(account);
    });

    it("are not shown to a program with a token", async () => {
      const own = await Browser.signIn(service, email);
      const cookie = `__session=${await copyToken(own)}`;
      const { text } = await service.ask("/home/access", { headers: { cookie } });
      expect(text).toContain(email);
      expect(text).not.toContain("Where you are signed in");
    });
  });
});
