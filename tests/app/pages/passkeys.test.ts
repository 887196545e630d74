import { describe, expect, it } from "vitest";
import { Authenticator, flag } from "@/tests/support/authenticator";
import { borrowService } from "@/tests/support/block";
import { Browser } from "@/tests/support/browser";
import { eventually } from "@/tests/support/databases";
import { engines } from "@/tests/support/engines";
import { supportEmail } from "@/tests/support/lent-service";
import { mailTo } from "@/tests/support/mailbox";
import { add, ask, finishAdding, signInWith, startAdding } from "@/tests/support/passkeys";

type Listed = { id: string; name: string; host: string; addedAt: string; lastUsedAt: string | null };

const fiveMinutesMs = 5 * 60 * 1000;

describe.each(engines)("on $name", async (engine) => {
  const { stage, service } = await borrowService(engine);
  const host = new URL(service.url).hostname;

  const list = (email: string) => service.adminJson<Listed[]>("passkey", "list", email);
  const sessionsOf = (email: string) =>
    service.adminJson<Record<string, unknown>[]>("session", "list", email);
  const newAuthenticator = () => new Authenticator(service.url);

  const admit = (email: string) => Browser.admit(service, email, "--plan", "licensed");

  /** Opens an account with a passkey. */
  async function admitWithPasskey(email: string) {
    const browser = await admit(email);
    const authenticator = newAuthenticator();
    expect((await add(browser, authenticator)).status).toBe(204);
    return { browser, authenticator };
  }

  /** Lets this many milliseconds pass since the sessions of an account were confirmed. */
  async function age(email: string, ms: number): Promise<void> {
    await stage.query(
      `UPDATE local_sessions SET confirmed_at_ms = confirmed_at_ms - ${ms}
       WHERE account_id = (SELECT id FROM accounts WHERE email = '${email}')`,
    );
  }

  it("asks for a discoverable credential with user verification, without attestation, for this host", async () => {
    const email = "options@example.com";
    const { browser, authenticator } = await admitWithPasskey(email);
    const { status, headers, text } = await startAdding(browser);
    const { challenge, user, ...options } = JSON.parse(text);
    expect(status).toBe(200);
    expect(headers).toMatchObject({ "content-type": "application/json", "cache-control": "no-store" });
    expect(options).toEqual({
      rp: { id: host, name: "Corner Office" },
      pubKeyCredParams: [-8, -7, -35, -36, -257].map((alg) => ({ type: "public-key", alg })),
      excludeCredentials: [{ type: "public-key", id: authenticator.id }],
      authenticatorSelection: {
        residentKey: "required",
        requireResidentKey: true,
        userVerification: "required",
      },
      attestation: "none",
      timeout: fiveMinutesMs,
    });
    expect(user).toEqual({ id: expect.any(String), name: email, displayName: email });
    expect(Buffer.from(challenge, "base64url").length).toBe(41);
    expect(challenge).not.toBe(JSON.parse((await startAdding(browser)).text).challenge);
  });

  it("gives everyone the same options to sign in but for the challenge, and stores nothing for it", async () => {
    const stranger = new Browser(service);
    const before = await stage.query("SELECT * FROM passkey_challenges");
    const answers = await Promise.all([1, 2, 3].map(() => stranger.post("/sign-in/passkey/options")));
    for (const { status, text } of answers) {
      const { challenge, ...options } = JSON.parse(text);
      expect([status, options]).toEqual([
        200,
        { rpId: host, userVerification: "required", timeout: fiveMinutesMs },
      ]);
      expect(challenge).toMatch(/^[\w-]{55}$/);
    }
    const [first] = answers;
    expect(first?.headers["set-cookie"]).toEqual([
      expect.stringMatching(/^office-passkey=[\w-]{43}; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax$/),
    ]);
    expect(await stage.query("SELECT * FROM passkey_challenges")).toEqual(before);
  });

  it("signs a browser in like a code does", async () => {
    const email = "signs-in@example.com";
    const { authenticator } = await admitWithPasskey(email);
    const browser = new Browser(service);
    const { status, headers, text } = await signInWith(browser, authenticator);
    expect([status, JSON.parse(text)]).toEqual([200, { to: "/home" }]);
    expect(headers["content-type"]).toBe("application/json");
    const names = ["__session", "office-client", "office-known", "office-passkey"];
    expect([...browser.cookies.keys()].sort()).toEqual(names);
    expect(await browser.status()).toBe(200);
    expect((await browser.open("/home/access")).text).toContain(email);
    const sessions = await sessionsOf(email);
    expect(sessions.map(({ kind, name, confirmedBy }) => ({ kind, name, confirmedBy }))).toEqual(
      expect.arrayContaining([
        { kind: "browser", name: "Chromium on Linux", confirmedBy: "passkey" },
        { kind: "browser", name: "Chromium on Linux", confirmedBy: "code" },
      ]),
    );
    expect((await browser.submit("/sign-in/out")).headers.location).toBe("/");
    expect(await browser.status()).toBe(401);
  });

  it("shows each passkey at /home with its name, renames it, and refuses a name that is none", async () => {
    const email = "renames@example.com";
    const { browser, authenticator } = await admitWithPasskey(email);
    await signInWith(browser, authenticator);
    const [passkey = expect.fail()] = await list(email);
    expect(passkey).toEqual({
      id: expect.stringMatching(/^pass_[0-9a-f]{16}$/),
      name: "Chromium on Linux",
      host,
      addedAt: expect.any(String),
      lastUsedAt: expect.any(String),
    });
    const rename = (name: string, id = passkey.id) =>
      browser.pressAtHome("/home/passkeys/rename", { passkey: id, name });
    expect((await rename("  My <b>key</b>  ")).headers.location).toBe("/home/access?renamed#ways");
    const renamed = (await browser.open("/home/access?renamed")).text;
    expect(renamed).toMatch(/My &lt;b&gt;key&lt;\/b&gt;.*Add a passkey/s);
    expect((await rename("x".repeat(60))).headers.location).toBe("/home/access?renamed#ways");
    for (const name of ["", "  ", "x".repeat(61), "\u3164\u200B"]) {
      expect((await rename(name)).headers.location).toBe("/home/access?problem=name#ways");
    }
    // With Cyrillic letters, a bidirectional character and a filler.
    expect((await rename("Мy\u202E\n<b>kеy</b>\u3164")).headers.location).toBe("/home/access?renamed#ways");
    expect((await list(email)).map(({ name }) => name)).toEqual(["My <b>key</b>"]);
  });

  it("removes a passkey, which then no longer signs in, and mails the owner about each change", async () => {
    const email = "removes@example.com";
    const { browser, authenticator } = await admitWithPasskey(email);
    const added = await mailTo(service.dataDir, email, /passkey was added/);
    expect(added.subject).toBe("A passkey was added");
    expect(added.text).toMatch(
      /^It can now sign in.+\n\nPasskey: Chromium on Linux\nWhen: \w+,? \d+ \w+ \d{4} at \d\d:\d\d UTC\n/,
    );
    expect(added.text).toContain("If it wasn’t, sign in with a code, remove this passkey");
    expect(added.text).toContain(supportEmail);
    expect(added.text).toContain(`${service.url}/home/access#ways`);
    expect(added.headers.find(({ key }) => key === "auto-submitted")?.value).toBe("auto-generated");

    const [{ id } = expect.fail()] = await list(email);
    const { headers } = await browser.pressAtHome("/home/passkeys/remove", { passkey: id });
    expect(headers.location).toBe("/home/access?removed#ways");
    expect(await list(email)).toEqual([]);
    const removed = await mailTo(service.dataDir, email, /passkey was removed/);
    expect(removed.text).toContain("It can no longer sign in to your account. A code by email still can.");
    const other = new Browser(service);
    expect((await signInWith(other, authenticator)).status).toBe(404);
    expect(await other.status()).toBe(401);
  });

  it("asks for a proof not older than five minutes to add or remove one: a code or a passkey, in this browser", async () => {
    const email = "confirms@example.com";
    const { browser, authenticator } = await admitWithPasskey(email);
    const [{ id } = expect.fail()] = await list(email);
    const options = JSON.parse((await startAdding(browser)).text);
    const before = (await sessionsOf(email)).map((session) => session.id);

    for (const confirm of ["code", "passkey"] as const) {
      await age(email, fiveMinutesMs);
      expect((await startAdding(browser)).status).toBe(403);
      expect((await finishAdding(browser, newAuthenticator().create(options))).status).toBe(403);
      const { headers } = await browser.pressAtHome("/home/passkeys/remove", { passkey: id });
      expect(headers.location).toBe("/home/access?problem=confirm#ways");
      expect(await list(email)).toHaveLength(1);
      const home = await browser.open("/home/access?problem=confirm");
      expect(home.text).toContain("Confirm that it is you under “Ways to sign in”");
      expect(home.text).toContain("<h2>Ways to sign in</h2>");
      expect(home.text).toContain("To add or remove a passkey, confirm that it is you:");
      expect(home.text).not.toContain("Remove “");

      // Another browser's proof does not count here.
      const other = new Browser(service);
      await signInWith(other, authenticator);
      expect((await startAdding(browser)).status).toBe(403);
      await other.submit("/sign-in/out");

      if (confirm === "passkey") expect((await signInWith(browser, authenticator)).status).toBe(200);
      else expect(await browser.redeem(email)).toBe("/home/access#ways");
      expect((await startAdding(browser)).status).toBe(200);
      const [session] = await sessionsOf(email);
      expect([session?.id, session?.confirmedBy]).toEqual([before[0], confirm]);
    }
    expect((await sessionsOf(email)).map((session) => session.id)).toEqual(before);
    await age(email, fiveMinutesMs - 10_000);
    expect((await startAdding(browser)).status).toBe(200);
  });

  it("lets an account have ten passkeys, also when twelve are added at once", async () => {
    const email = "collects@example.com";
    const browser = await admit(email);
    const responses = [];
    for (let made = 0; made < 12; made++) {
      responses.push(newAuthenticator().create(JSON.parse((await startAdding(browser)).text)));
    }
    const answers = await Promise.all(responses.map((response) => finishAdding(browser, response)));
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(10).fill(204), 409, 409]);
    expect(await list(email)).toHaveLength(10);
    const { status, text } = await startAdding(browser);
    expect([status, JSON.parse(text).error.message]).toEqual([409, "This account has 10 passkeys already."]);
    const full = (await browser.open("/home/access")).text;
    expect(full).toContain("To add another one, remove one first.");
    expect(full).not.toContain("Add a passkey");
  });

  it("refuses a signature counter that goes back, notes it in the audit, and accepts one that grows", async () => {
    const email = "counts@example.com";
    const { authenticator } = await admitWithPasskey(email);
    const countTo = async (counter: number) =>
      (await signInWith(new Browser(service), authenticator, { counter })).status;
    for (const counter of [0, 5]) expect(await countTo(counter)).toBe(200);
    for (const counter of [5, 4, 0]) expect(await countTo(counter)).toBe(400);
    expect(await countTo(6)).toBe(200);
    const entries = await service.audit(email);
    const refused = entries.filter(({ what }) => what === "passkey refused");
    const [{ id } = expect.fail()] = await list(email);
    expect(refused.map(({ who, after }) => ({ who, after }))).toEqual(
      Array(3).fill({ who: "visitor", after: { passkey: id, because: "the signature counter went back" } }),
    );
    const words = "a passkey was refused: the signature counter went back";
    await eventually(() => expect(service.log.includes(words)).toBe(true));
  });

  // WebAuthn Level 3 §7.2 step 22: a signal, not proof. KeePassXC counts from 0 what Bitwarden has counted
  // (keepassxreboot/keepassxc#13323).
  it("does not compare the counters of a passkey that is synced", async () => {
    const { authenticator } = await admitWithPasskey("synced@example.com");
    const flags = flag.userPresent | flag.userVerified | flag.backupEligible;
    for (const counter of [7, 4, 4, 0, 0, 9]) {
      const { status } = await signInWith(new Browser(service), authenticator, { counter, flags });
      expect(status).toBe(200);
    }
    const { status } = await signInWith(new Browser(service), authenticator, { counter: 8 });
    expect(status, "not synced").toBe(400);
  });

  it("offers a passkey after a sign-in by code until the owner puts the offer away for good", async () => {
    const email = "declines@example.com";
    const browser = await admit(email);
    const isOffered = async (by: Browser) => {
      await by.post("/sign-in/renew");
      return (await by.open("/home")).text.includes("/home/passkeys/decline");
    };
    expect(await isOffered(browser)).toBe(true);
    expect((await browser.pressAtHome("/home/passkeys/decline")).headers.location).toBe("/home");
    expect(await isOffered(browser)).toBe(false);
    expect(await isOffered(await Browser.signIn(service, email))).toBe(false);

    const { browser: adder, authenticator } = await admitWithPasskey("accepts@example.com");
    expect(await isOffered(adder)).toBe(false);
    const other = new Browser(service);
    await signInWith(other, authenticator);
    expect(await isOffered(other)).toBe(false);
  });

  it("is known to the operator's commands, the audit and the export", async () => {
    const email = "operated@example.com";
    const { browser, authenticator } = await admitWithPasskey(email);
    expect(await service.adminJson("account", "show", email)).toMatchObject({ passkeys: 1 });
    const [{ id } = expect.fail()] = await list(email);
    const exported = await service.adminJson<{ passkeys: object[] }>("person", "export", email);
    const times = { addedAt: expect.any(String), lastUsedAt: null };
    expect(exported.passkeys).toEqual([{ name: "Chromium on Linux", host, ...times }]);
    expect(JSON.stringify(exported)).not.toContain(authenticator.id);

    const refused = await service.admin("passkey", "remove", email, "pass_0000000000000000");
    expect(refused.code).toBe(1);
    expect(refused.stderr).toBe("not_found: This account has no such passkey. See 'passkey list'.\n");
    expect((await service.admin("passkey", "remove", email)).code).toBe(2);
    const noSession = await service.admin("session", "end", email, "ses_0000000000000000");
    expect(noSession.stderr).toMatch(/^not_found: This account has no such session\./);
    expect(await service.adminJson("passkey", "remove", email, id)).toEqual({ email, removed: id });
    await mailTo(service.dataDir, email, /passkey was removed/);
    expect((await service.admin("passkey", "list", email)).stdout).toBe("No passkeys found.\n");
    const whats = await service.audit(email);
    const acts = ["passkey remove", "passkey add", "sign in", "account add"];
    expect(whats.map(({ what }) => what)).toEqual(acts);
    expect(whats[1]?.after).toEqual({ [id]: { addedAt: expect.any(String) } });
    expect((await add(browser, newAuthenticator())).status).toBe(204);
    expect(await service.adminJson("passkey", "remove", email, "--all")).toEqual({ email, removed: "all" });
  });

  it("leaves codes as the way in for whom has lost every passkey, and after the host of APP_URL has changed", async () => {
    const email = "moves@example.com";
    const { browser, authenticator } = await admitWithPasskey(email);
    expect(await service.check("passkeys")).toMatchObject({ level: "fine", detail: `for ${host}` });
    await stage.query("UPDATE passkeys SET rp_id = 'old.example.com'");
    expect(await service.check("passkeys")).toMatchObject({
      works: true,
      level: "warning",
      detail: expect.stringMatching(/^made for another host than localhost: \d+ for old\.example\.com$/),
      remedy: expect.stringContaining("Set PASSKEY_HOST to their host"),
    });
    expect((await signInWith(new Browser(service), authenticator)).status).toBe(400);
    await browser.post("/sign-in/renew");
    expect((await browser.open("/home/access")).text).toContain(
      "It was made for old.example.com and works only there",
    );
    expect(await (await Browser.signIn(service, email)).status()).toBe(200);
  });

  it("leaves /sign-in the same for everyone: the page names no passkey and no challenge", async () => {
    const stranger = new Browser(service);
    const { text, headers } = await stranger.open("/sign-in");
    expect(headers["set-cookie"]).toBeUndefined();
    expect(text).toContain('autoComplete="username webauthn"');
    expect(text).toMatch(/<div id="passkey" data-needs="passkeys" hidden="">/);
    const challenge = await ask(stranger);
    expect((await stranger.open("/sign-in")).text).not.toContain(challenge.challenge);
  });
});
