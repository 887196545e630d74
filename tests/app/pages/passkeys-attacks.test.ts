import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Authenticator, flag, type Lies, type Response } from "@/tests/support/authenticator";
import { borrowService } from "@/tests/support/block";
import { Browser } from "@/tests/support/browser";
import { engines } from "@/tests/support/engines";
import { add, ask, finishAdding, sendAssertion, signInWith, startAdding } from "@/tests/support/passkeys";
import type { Answer } from "@/tests/support/service";

const refusal = {
  code: "invalid_request",
  message: "This passkey was not accepted.",
  hint: "Try again, or sign in with a code.",
  docs: expect.stringMatching(/\/docs\/api\/errors#invalid_request$/),
};

describe.each(engines)("on $name", async (engine) => {
  const { stage, service } = await borrowService(engine);
  let admitted = 0;

  /** Opens an account with a passkey, and returns its owner's signed-in browser. */
  async function admit() {
    const email = `attacked-${++admitted}@example.com`;
    const browser = await Browser.admit(service, email, "--plan", "licensed");
    const authenticator = new Authenticator(service.url);
    expect((await add(browser, authenticator)).status).toBe(204);
    return { email, browser, authenticator };
  }

  const countPasskeys = async () => Number((await stage.query("SELECT count(*) AS n FROM passkeys"))[0]?.n);

  /** Checks that an answer refuses without a reason, and that the browser is not signed in. */
  async function expectRefused(
    browser: Browser,
    { status, text, headers }: Answer,
    what = "",
  ): Promise<void> {
    expect([status, JSON.parse(text).error], what).toEqual([400, refusal]);
    expect(headers["set-cookie"], what).toBeUndefined();
    expect(browser.cookies.has("office-client"), what).toBe(false);
  }

  it("an assertion works once: a replay is refused, and one of eight at once is accepted", async () => {
    const { authenticator } = await admit();
    const browser = new Browser(service);
    const assertion = authenticator.get(await ask(browser));
    const binding = browser.valueOf("office-passkey");
    const clones = Array.from({ length: 8 }, () => {
      const clone = new Browser(service);
      clone.cookies.set("office-passkey", binding);
      return clone;
    });
    const answers = await Promise.all(clones.map((clone) => sendAssertion(clone, assertion)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(400)]);
    await expectRefused(browser, await sendAssertion(browser, assertion));
  });

  it("a registration works once, and a credential is one account's", async () => {
    const { browser, authenticator } = await admit();
    const response = new Authenticator(service.url).create(JSON.parse((await startAdding(browser)).text));
    const answers = await Promise.all([1, 2, 3, 4].map(() => finishAdding(browser, response)));
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 400, 400, 400]);
    const before = await countPasskeys();
    const other = await admit();
    const stolen = other.authenticator.create(JSON.parse((await startAdding(other.browser)).text), {
      credentialId: authenticator.id,
    });
    expect((await finishAdding(other.browser, stolen)).status).toBe(400);
    expect(await countPasskeys()).toBe(before + 1);
    expect((await signInWith(new Browser(service), authenticator)).status).toBe(200);
  });

  it("a challenge works only in the browser that asked, for the ceremony that it was given for", async () => {
    const { browser: owner, authenticator } = await admit();
    const [mine, another] = [new Browser(service), new Browser(service)];
    const assertion = authenticator.get(await ask(mine));
    await expectRefused(another, await sendAssertion(another, assertion), "without a cookie");
    await ask(another);
    await expectRefused(another, await sendAssertion(another, assertion), "with another cookie");

    const toAdd = JSON.parse((await startAdding(owner)).text);
    const thief = new Browser(service);
    thief.cookies.set("office-passkey", owner.valueOf("office-passkey"));
    const { challenge } = toAdd;
    await expectRefused(
      thief,
      await sendAssertion(thief, authenticator.get({ challenge, rpId: "localhost" })),
    );
    const toSignIn = await ask(owner);
    const created = new Authenticator(service.url).create({ ...toAdd, challenge: toSignIn.challenge });
    expect((await finishAdding(owner, created)).status, "a sign-in's challenge adds no passkey").toBe(400);

    const other = await admit();
    other.browser.cookies.set("office-passkey", owner.valueOf("office-passkey"));
    const foreign = await finishAdding(other.browser, new Authenticator(service.url).create(toAdd));
    expect(foreign.status, "a challenge to add to one account adds to no other").toBe(400);

    const made = createHash("sha256").update("made up").digest("base64url");
    await expectRefused(mine, await signInWith(mine, authenticator, { challenge: made }), "made up");
    const doubled = `office-passkey=x; office-passkey=${mine.valueOf("office-passkey")}`;
    const answer = await new Browser(service).post("/sign-in/passkey", JSON.stringify(assertion), {
      cookie: doubled,
    });
    expect(answer.status, "two cookies of one name").toBe(400);
    expect((await sendAssertion(mine, assertion)).status, "the untouched one").toBe(200);
  });

  it("an assertion that lies is refused, whatever it lies about: `passkey-ceremony.test.ts` has the others", async () => {
    const { authenticator } = await admit();
    const browser = new Browser(service);
    for (const [what, lies] of Object.entries<Lies>({
      "the same host on another port": { origin: "http://localhost:1" },
      "no verified user": { flags: flag.userPresent },
      "another account's user handle": { userHandle: Buffer.from("another").toString("base64url") },
    })) {
      await expectRefused(browser, await signInWith(browser, authenticator, lies), what);
    }
    expect(await browser.status()).toBe(401);
  });

  // kanidm/kanidm#3369
  it("a security key without a PIN is not added, in words that say what to do", async () => {
    const browser = await Browser.admit(service, "no-pin@example.com");
    const { status, text } = await add(browser, new Authenticator(service.url), { flags: flag.userPresent });
    expect([status, JSON.parse(text).error.message]).toEqual([
      400,
      expect.stringMatching(/^This passkey was not added: .* A security key needs a PIN first: /),
    ]);
    expect((await add(browser, new Authenticator(service.url))).status).toBe(204);
  });

  it("a passkey of another account neither signs in nor confirms under one's own session", async () => {
    const [mine, theirs] = [await admit(), await admit()];
    await stage.query("UPDATE local_sessions SET confirmed_at_ms = 0");
    const before = mine.browser.valueOf("office-client");
    const { status, text } = await signInWith(mine.browser, theirs.authenticator);
    expect([status, JSON.parse(text).error.message]).toEqual([
      409,
      "This passkey is of another account than the one that you are signed in to.",
    ]);
    expect(mine.browser.valueOf("office-client")).toBe(before);
    expect((await startAdding(mine.browser)).status, "still not confirmed").toBe(403);
    expect((await signInWith(mine.browser, mine.authenticator)).status).toBe(200);
    expect((await startAdding(mine.browser)).status).toBe(200);
  });

  it.each(["a passkey", "a code", "a sign-in to another account"])(
    "a copied cookie gains nothing by the owner's proof with %s: it reads for a minute, and is then worth nothing",
    async (way) => {
      const { email, browser, authenticator } = await admit();
      const thief = new Browser(service);
      for (const [name, value] of browser.cookies) thief.cookies.set(name, value);
      await stage.query("UPDATE local_sessions SET confirmed_at_ms = 0");
      const isOther = way.startsWith("a sign-in");
      if (way === "a passkey") expect((await signInWith(browser, authenticator)).status).toBe(200);
      else await browser.redeem(isOther ? (await admit()).email : email);
      expect(browser.valueOf("office-client")).not.toBe(thief.valueOf("office-client"));
      expect((await startAdding(browser)).status).toBe(200);

      expect((await startAdding(thief)).status).not.toBe(200);
      expect((await thief.pressAtHome("/home/token")).status).not.toBe(200);
      const renew = async (by: Browser) => (await by.post("/sign-in/renew")).status;
      const kept = thief.valueOf("office-client");
      await stage.query("UPDATE local_sessions SET former_until_ms = former_until_ms - 50000");
      expect(await renew(thief), "within a minute").toBe(isOther ? 401 : 204);
      await stage.query("UPDATE local_sessions SET former_until_ms = 0");
      thief.cookies.set("office-client", kept);
      expect([await renew(thief), await renew(browser)]).toEqual([401, 204]);
    },
  );

  it("a proof whose answer was lost can be repeated in the minute, and its session goes on", async () => {
    const { email, browser, authenticator } = await admit();
    const kept = browser.valueOf("office-client");
    await signInWith(browser, authenticator);
    browser.cookies.set("office-client", kept);
    await signInWith(browser, authenticator);
    expect((await startAdding(browser)).status).toBe(200);
    expect(await service.adminJson("session", "list", email)).toHaveLength(1);
  });

  it("no owner renames or removes a passkey of another", async () => {
    const [mine, theirs] = [await admit(), await admit()];
    const list = () => service.adminJson<{ id: string }[]>("passkey", "list", theirs.email);
    const [{ id: passkey } = expect.fail()] = await list();
    await mine.browser.pressAtHome("/home/passkeys/remove", { passkey });
    await mine.browser.pressAtHome("/home/passkeys/rename", { passkey, name: "mine" });
    expect(await list()).toMatchObject([{ id: passkey, name: "Chromium on Linux" }]);
  });

  it("answers an unknown credential like a wrong signature, but for the code", async () => {
    const { authenticator } = await admit();
    const browser = new Browser(service);
    const unknown = await signInWith(browser, new Authenticator(service.url));
    const wrong = await signInWith(browser, authenticator, { signature: Buffer.alloc(70, 1) });
    const docs = expect.stringMatching(/\/docs\/api\/errors#not_found$/);
    expect(unknown.status).toBe(404);
    expect(JSON.parse(unknown.text).error).toEqual({ ...refusal, code: "not_found", docs });
    expect([wrong.status, JSON.parse(wrong.text).error]).toEqual([400, refusal]);
    const madeUp = { credentialId: "A".repeat(43), challenge: "A".repeat(72) };
    expect((await signInWith(browser, authenticator, madeUp)).status, "to a challenge of no one's").toBe(400);
  });

  it("200 truncated and altered responses are refused, never with a 500, and change nothing", async () => {
    const { email, browser: owner, authenticator } = await admit();
    const before = await countPasskeys();
    const stranger = new Browser(service);
    const assertion = authenticator.get(await ask(stranger));
    const registration = new Authenticator(service.url).create(JSON.parse((await startAdding(owner)).text));
    for (const [path, response, by] of [
      ["/sign-in/passkey", assertion, stranger],
      ["/home/passkeys/add", registration, owner],
    ] as const) {
      const isRefused = fc.asyncProperty(altered(response), async (body) => {
        const { status, text } = await cloneWithoutLimit(by).post(path, body);
        const { code } = JSON.parse(text).error;
        expect(path === "/sign-in/passkey" ? [400, 404] : [400]).toContain(status);
        expect(code).toBe(status === 404 ? "not_found" : "invalid_request");
      });
      await fc.assert(isRefused, { seed: 20_261_121, numRuns: 100 });
    }
    expect(await countPasskeys()).toBe(before);
    const signedIn = await sendAssertion(cloneWithoutLimit(stranger), assertion);
    expect(signedIn.status, "the untouched one").toBe(200);
    const added = await finishAdding(cloneWithoutLimit(owner), registration);
    expect(added.status, "the untouched one").toBe(204);
    expect(await service.adminJson("passkey", "list", email)).toHaveLength(2);
  });

  /** Attempts are limited by address, and by browser where it is known. */
  function cloneWithoutLimit(browser: Browser): Browser {
    const clone = new Browser(service);
    for (const [name, value] of browser.cookies) if (name !== "office-known") clone.cookies.set(name, value);
    return clone;
  }
});

/** A response that is cut off, that has another value somewhere, or whose bytes end early or go on. */
function altered(response: Response): fc.Arbitrary<string> {
  const body = JSON.stringify(response);
  const outer = fc.constantFrom("id", "rawId", "type", "response");
  const inner = fc.constantFrom(...Object.keys(response.response).filter((name) => name !== "userHandle"));
  const put = (name: string, value: unknown) =>
    JSON.stringify({ ...response, response: { ...response.response, [name]: value } });
  const bytesOf = (name: string) => Buffer.from(response.response[name] ?? "", "base64url");
  const made = fc.uint8Array({ minLength: 1, maxLength: 300 }).map((bytes) => Buffer.from(bytes));
  return fc
    .oneof(
      fc.nat(body.length - 1).map((length) => body.slice(0, length)),
      fc.tuple(outer, fc.jsonValue()).map(([name, value]) => JSON.stringify({ ...response, [name]: value })),
      fc.tuple(inner, fc.jsonValue()).map(([name, value]) => put(name, value)),
      fc.tuple(inner, fc.double({ min: 0, max: 0.99, noNaN: true })).map(([name, part]) =>
        put(
          name,
          bytesOf(name)
            .subarray(0, part * bytesOf(name).length)
            .toString("base64url"),
        ),
      ),
      fc
        .tuple(inner, made)
        .map(([name, more]) => put(name, Buffer.concat([bytesOf(name), more]).toString("base64url"))),
      fc.tuple(inner, made).map(([name, bytes]) => put(name, bytes.toString("base64url"))),
    )
    .filter((changed) => changed !== body);
}
