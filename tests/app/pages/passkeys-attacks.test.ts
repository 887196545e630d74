import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Authenticator, flag, type Lies, type Response } from "@/tests/support/authenticator";
import { Browser } from "@/tests/support/browser";
import { engines, type Stage } from "@/tests/support/engines";
import { giveBack, lend } from "@/tests/support/lent-service";
import { codesTo, newCodeTo } from "@/tests/support/mailbox";
import { add, ask, finishAdding, sendAssertion, signInWith, startAdding } from "@/tests/support/passkeys";
import type { Answer, Service } from "@/tests/support/service";

const variants = 150; // of each ceremony

const refusal = {
  code: "invalid_request",
  message: "This passkey was not accepted.",
  hint: "Try again, or sign in with a code.",
  docs: expect.stringMatching(/\/docs\/api\/errors#invalid_request$/),
};

describe.each(engines)("on $name", (engine) => {
  let stage: Stage;
  let service: Service;
  let admitted = 0;

  beforeAll(async () => {
    ({ stage, service } = await lend(engine));
  });
  afterAll(() => giveBack(service));

  /** Opens an account with a passkey, and returns its owner's signed-in browser. */
  async function admit() {
    const email = `attacked-${++admitted}@example.com`;
    await service.adminJson("account", "add", email, "--plan", "licensed");
    const browser = await Browser.signIn(service, email);
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
      "another scheme": { origin: "https://localhost" },
      "another relying party": { rpId: "evil.example" },
      "an embedded page": { crossOrigin: true },
      "no verified user": { flags: flag.userPresent },
      "a signature that is none": { signature: Buffer.alloc(71, 0xff) },
      "another account's user handle": { userHandle: Buffer.from("another").toString("base64url") },
    })) {
      await expectRefused(browser, await signInWith(browser, authenticator, lies), what);
    }
    expect(await browser.status()).toBe(401);
  });

  it("an assertion signed by another key is refused", async () => {
    const { authenticator } = await admit();
    const browser = new Browser(service);
    const forger = new Authenticator(service.url);
    const forged = forger.get(await ask(browser), { credentialId: authenticator.id });
    await expectRefused(browser, await sendAssertion(browser, forged));
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
      else await redeemIn(browser, isOther ? (await admit()).email : email);
      expect(browser.valueOf("office-client")).not.toBe(thief.valueOf("office-client"));
      expect((await startAdding(browser)).status).toBe(200);

      expect((await startAdding(thief)).status).not.toBe(200);
      expect((await thief.pressAtHome("/home/token")).status).not.toBe(200);
      const renew = async (by: Browser) => (await by.post("/sign-in/renew")).status;
      const kept = thief.valueOf("office-client");
      expect(await renew(thief)).toBe(isOther ? 401 : 204);
      await stage.query("UPDATE local_sessions SET former_until_ms = 0");
      thief.cookies.set("office-client", kept);
      expect([await renew(thief), await renew(browser)]).toEqual([401, 204]);
    },
  );

  /** Signs in by a code in a browser that may be signed in. */
  async function redeemIn(browser: Browser, email: string): Promise<void> {
    const folders = [service.dataDir];
    const earlier = await codesTo(folders, email);
    await browser.submit("/sign-in/send", { email });
    const code = await newCodeTo(folders, email, earlier);
    expect((await browser.submit("/sign-in/redeem", { code })).headers.location).toMatch(/^\/home/);
  }

  it("a proof whose answer was lost can be repeated in the minute, and its session goes on", async () => {
    const { email, browser, authenticator } = await admit();
    const kept = browser.valueOf("office-client");
    await signInWith(browser, authenticator);
    browser.cookies.set("office-client", kept);
    await signInWith(browser, authenticator);
    expect((await startAdding(browser)).status).toBe(200);
    expect(await service.adminJson("session", "list", email)).toHaveLength(1);
  });

  it("a registration that lies adds no passkey", async () => {
    const { browser } = await admit();
    const before = await countPasskeys();
    for (const lies of [
      { algorithm: -47 },
      { origin: "https://evil.example" },
      { flags: flag.userPresent },
      { credentialId: "" },
    ]) {
      const { status } = await add(browser, new Authenticator(service.url), lies);
      expect(status, JSON.stringify(lies)).toBe(400);
    }
    expect(await countPasskeys()).toBe(before);
  });

  it("a valid assertion of an attacker signs no one else in, without the attacker's cookie (login CSRF)", async () => {
    const { authenticator } = await admit();
    const assertion = JSON.stringify(authenticator.get(await ask(new Browser(service))));
    expect((await new Browser(service).post("/sign-in/passkey", assertion)).status).toBe(400);
  });

  it("a program's token, and a browser that is signed out, can do nothing with passkeys", async () => {
    const { email, browser } = await admit();
    const token = await service.token(email);
    const signedOut = new Browser(service);
    for (const path of ["/home/passkeys/options", "/home/passkeys/add"]) {
      expect((await browser.post(path, "{}", { authorization: `Bearer ${token}` })).status).toBe(403);
      expect((await signedOut.post(path, "{}", { cookie: `__session=${token}` })).status).toBe(401);
      expect((await signedOut.post(path, "{}")).status).toBe(401);
    }
    for (const path of ["/home/passkeys/rename", "/home/passkeys/remove", "/home/passkeys/decline"]) {
      const { status, headers } = await signedOut.submit(path);
      expect([status, headers.location]).toEqual([303, "/sign-in?problem=ended"]);
    }
  });

  it("no owner renames or removes a passkey of another, or acts for an account that the page did not show", async () => {
    const [mine, theirs] = [await admit(), await admit()];
    const [{ id: passkey } = expect.fail()] = await service.adminJson<{ id: string }[]>(
      "passkey",
      "list",
      theirs.email,
    );
    await mine.browser.pressAtHome("/home/passkeys/remove", { passkey });
    await mine.browser.pressAtHome("/home/passkeys/rename", { passkey, name: "mine" });
    expect(await service.adminJson("passkey", "list", theirs.email)).toMatchObject([
      { id: passkey, name: "Chromium on Linux" },
    ]);
    const [account] = await stage.query(`SELECT id FROM accounts WHERE email = '${theirs.email}'`);
    const shown = { account: String(account?.id) };
    expect((await mine.browser.submit("/home/passkeys/options", shown)).status).toBe(409);
    const { headers } = await mine.browser.submit("/home/passkeys/remove", { ...shown, passkey });
    expect(headers.location).toBe("/home/access?problem=account");
  });

  it("answers an unknown credential like a wrong signature, but for the code, and limits the attempts of an address", async () => {
    const { authenticator } = await admit();
    const browser = new Browser(service);
    const unknown = await signInWith(browser, new Authenticator(service.url));
    const wrong = await signInWith(browser, authenticator, { signature: Buffer.alloc(70, 1) });
    const docs = expect.stringMatching(/\/docs\/api\/errors#not_found$/);
    expect(unknown.status).toBe(404);
    expect(JSON.parse(unknown.text).error).toEqual({ ...refusal, code: "not_found", docs });
    expect([wrong.status, JSON.parse(wrong.text).error]).toEqual([400, refusal]);
    for (let sent = 2; sent < 30; sent++) expect((await browser.post("/sign-in/passkey")).status).toBe(400);
    const { status, headers } = await browser.post("/sign-in/passkey");
    expect(status).toBe(429);
    expect(Number(headers["retry-after"])).toBeGreaterThan(0);
  });

  it(`${2 * variants} truncated and mutated responses are refused, never with a 500, and change nothing`, async () => {
    const { email, browser: owner, authenticator } = await admit();
    const before = await countPasskeys();
    const stranger = new Browser(service);
    const assertion = authenticator.get(await ask(stranger));
    const registration = new Authenticator(service.url).create(JSON.parse((await startAdding(owner)).text));
    for (const [path, response, by] of [
      ["/sign-in/passkey", assertion, stranger],
      ["/home/passkeys/add", registration, owner],
    ] as const) {
      const bodies = new Set<string>();
      for (let seed = 0; bodies.size < variants; seed++)
        bodies.add(mutate(response, seed).toString("base64"));
      const queue = [...bodies];
      while (queue.length > 0) {
        // Attempts are limited by address, and by browser where it is known.
        const sender = cloneWithoutLimit(by);
        const batch = queue.splice(0, 25).map(async (body) => {
          const { status, text } = await sender.post(path, Buffer.from(body, "base64"));
          return { status, code: JSON.parse(text || "{}").error?.code, body };
        });
        for (const { status, code, body } of await Promise.all(batch)) {
          const isUnknown = path === "/sign-in/passkey" && status === 404;
          expect([status, code], `${path} ${Buffer.from(body, "base64")}`).toEqual(
            isUnknown ? [404, "not_found"] : [400, "invalid_request"],
          );
        }
      }
    }
    expect(await countPasskeys()).toBe(before);
    expect(stranger.cookies.has("__session")).toBe(false);
    expect((await sendAssertion(cloneWithoutLimit(stranger), assertion)).status, "the untouched one").toBe(
      200,
    );
    expect((await finishAdding(cloneWithoutLimit(owner), registration)).status, "the untouched one").toBe(
      204,
    );
    expect(await service.adminJson("passkey", "list", email)).toHaveLength(2);
  });

  function cloneWithoutLimit(browser: Browser): Browser {
    const clone = new Browser(service);
    for (const [name, value] of browser.cookies) if (name !== "office-known") clone.cookies.set(name, value);
    return clone;
  }
});

/** A small deterministic generator (mulberry32), so that a failing variant can be sent again. */
function random(seed: number): (below: number) => number {
  let state = seed + 1;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

const odd = [
  null,
  true,
  -1,
  1e308,
  "",
  "=",
  "\u0000",
  "😀",
  "AAAA",
  [],
  {},
  [[[]]],
  { length: 1e9 },
  "A".repeat(9000),
];

/** A response that is truncated or mutated in its JSON, its CBOR or its signature, in a way that its seed chooses. */
function mutate(response: Response, seed: number): Buffer {
  const pick = random(seed);
  const changed = structuredClone(response) as Response & Record<string, unknown>;
  const names = Object.keys(response.response);
  const name = names[pick(names.length)] ?? "";
  const bytes = Buffer.from(changed.response[name] ?? "", "base64url");
  const put = (mutated: Buffer) => {
    changed.response[name] = mutated.toString("base64url");
  };
  switch (pick(8)) {
    case 0: {
      const json = Buffer.from(JSON.stringify(response));
      return json.subarray(0, pick(json.length));
    }
    case 1: {
      const json = Buffer.from(JSON.stringify(response));
      json.writeUInt8(pick(256) & 0x9f, pick(json.length)); // mostly a control character
      return isSame(json, response) ? Buffer.from("{") : json;
    }
    case 2:
      changed[["id", "rawId", "type", "response"][pick(4)] ?? ""] = odd[pick(odd.length)];
      break;
    case 3:
      changed.response[name === "userHandle" ? "signature" : name] = odd[pick(odd.length)] as string;
      if (!("signature" in response.response)) delete changed.response.signature;
      break;
    case 4:
      put(bytes.subarray(0, pick(bytes.length)));
      break;
    case 5:
      put(Buffer.concat([bytes, Buffer.from(Array.from({ length: 1 + pick(40) }, () => pick(256)))]));
      break;
    case 6:
      put(Buffer.from(Array.from({ length: 1 + pick(300) }, () => pick(256))));
      break;
    default: {
      // A registration is not signed, so a change counts only where it has a meaning: from the statement's name to the
      // relying party, and up to the origin of the client data.
      const [from, to] = {
        attestationObject: [10, 32],
        clientDataJSON: [0, bytes.indexOf("crossOrigin") - 2],
      }[name] ?? [0, bytes.length];
      const at = (from ?? 0) + pick((to ?? 0) - (from ?? 0));
      bytes.writeUInt8((bytes[at] ?? 0) ^ (1 << pick(8)), at);
      put(bytes);
    }
  }
  return isSame(Buffer.from(JSON.stringify(changed)), response)
    ? Buffer.from("[]")
    : Buffer.from(JSON.stringify(changed));
}

/** Whether a body still says what the response said. */
function isSame(body: Buffer, response: Response): boolean {
  try {
    const { clientExtensionResults, ...said } = JSON.parse(body.toString());
    const { clientExtensionResults: _, ...meant } = response;
    return JSON.stringify(said) === JSON.stringify(meant);
  } catch {
    return false;
  }
}
