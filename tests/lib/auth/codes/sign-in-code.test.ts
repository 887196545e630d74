import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import { findRequestedCode, makeCode, redeemCode } from "@/lib/auth/codes/sign-in-code";
import { type CodeRequester, sweepCodes } from "@/lib/auth/codes/sign-in-code-limits";
import { dayMs } from "@/lib/config/durations";
import { startStage } from "@/tests/support/block";
import { engines } from "@/tests/support/engines";

const nowMs = 1_800_000_000_000;
const tenMinutesMs = 10 * 60 * 1000;
const sixHoursMs = 6 * 60 * 60 * 1000;

describe.each(engines)("a code on $name", async (engine) => {
  const db = await (await startStage(engine, { isAlone: true })).open();
  let emails = 0;
  const newEmail = () => `${++emails}@example.com`;

  async function make(requester: Partial<CodeRequester> = {}, atMs = nowMs) {
    const email = requester.email ?? newEmail();
    const { code = expect.fail("the code lies in the mailbox"), ...made } = await makeCode(
      db,
      { ...requester, email },
      atMs,
    );
    return { email, code, ...made };
  }

  /** The number of queued mails with a code. */
  const posted = async () =>
    Number((await db.selectFrom("sign_in_mails").select(sql`count(*)`.as("n")).executeTakeFirst())?.n);

  /** The kinds of code that these requesters get, in order. */
  async function kindsOf(askers: CodeRequester[], atMs = nowMs): Promise<string[]> {
    const kinds: string[] = [];
    for (const requester of askers) {
      const before = await posted();
      const { browser } = await makeCode(db, requester, atMs);
      const found = await findRequestedCode(db, browser, atMs);
      kinds.push(
        `${"isLong" in found && found.isLong ? "long" : "short"}${(await posted()) > before ? ", mailed" : ""}`,
      );
    }
    return kinds;
  }

  it("signs in the email that it was made for, once", async () => {
    const { email, browser, code } = await make();
    expect(code).toMatch(/^\d{6}$/);
    expect(await findRequestedCode(db, browser, nowMs)).toEqual({
      email,
      isLong: false,
      characters: 6,
      postedAtMs: nowMs,
      untilMs: nowMs + tenMinutesMs,
    });
    expect(await redeemCode(db, [browser], code, nowMs)).toMatchObject({ email });
    expect(await redeemCode(db, [browser], code, nowMs)).toEqual({ problem: "used" });
    expect(await findRequestedCode(db, browser, nowMs)).toEqual({ ended: "used" });
  });

  it("is redeemed by one of many concurrent attempts", async () => {
    const { browser, code } = await make();
    const tries = await Promise.all([1, 2, 3, 4].map(() => redeemCode(db, [browser], code, nowMs)));
    expect(tries.filter((redeemed) => "email" in redeemed)).toHaveLength(1);
  });

  it("lives ten minutes to the millisecond", async () => {
    const { email, browser, code } = await make();
    expect(await redeemCode(db, [browser], code, nowMs + tenMinutesMs)).toEqual({ problem: "expired" });
    expect(await redeemCode(db, [browser], code, nowMs + tenMinutesMs - 1)).toMatchObject({ email });
  });

  it("allows four wrong attempts, and not a fifth", async () => {
    const wrong = (code: string) => String((Number(code) + 1) % 1_000_000).padStart(6, "0");
    const [lucky, unlucky] = [await make(), await make()];
    for (const triesLeft of [4, 3, 2, 1]) {
      const answer = { problem: "wrong", triesLeft };
      expect(await redeemCode(db, [lucky.browser], wrong(lucky.code), nowMs)).toEqual(answer);
      expect(await redeemCode(db, [unlucky.browser], wrong(unlucky.code), nowMs)).toEqual(answer);
    }
    expect(await redeemCode(db, [lucky.browser], lucky.code, nowMs)).toMatchObject({ email: lucky.email });
    expect(await redeemCode(db, [unlucky.browser], wrong(unlucky.code), nowMs)).toEqual({ problem: "tries" });
    expect(await redeemCode(db, [unlucky.browser], unlucky.code, nowMs)).toEqual({ problem: "tries" });
    expect(await findRequestedCode(db, unlucky.browser, nowMs)).toEqual({ ended: "tries" });
  });

  it("counts concurrent attempts like successive ones", async () => {
    const { browser, code } = await make();
    const other = code === "000000" ? "000001" : "000000";
    const tries = await Promise.all(
      Array.from({ length: 20 }, () => redeemCode(db, [browser], other, nowMs)),
    );
    expect(tries.filter((redeemed) => "problem" in redeemed && redeemed.problem === "wrong")).toHaveLength(4);
    const judged = await db.selectFrom("sign_in_codes").select("tries").orderBy("tries", "desc").execute();
    expect(judged[0]?.tries, "those past the fifth are not looked at").toBe(5);
  });

  // lukevella/rallly#2439: who waits for a late mail asks again, and then gets the first code first.
  it("works with another one that its browser has requested for the email since, and each attempt counts for both", async () => {
    const [email, other] = [newEmail(), newEmail()];
    const [first, second, third] = [
      await make({ email }),
      await make({ email }),
      await make({ email: other }),
    ];
    const wrong = [first, second].some(({ code }) => code === "000000") ? "000001" : "000000";
    const browsers = [second.browser, third.browser, first.browser] as [string, ...string[]];
    expect(await redeemCode(db, browsers, wrong, nowMs)).toEqual({ problem: "wrong", triesLeft: 4 });
    const tries = db.selectFrom("sign_in_codes").select("tries").where("email", "in", [email, other]);
    expect((await tries.orderBy("tries").execute()).map((row) => row.tries)).toEqual([0, 1, 1]);
    if (third.code !== second.code && third.code !== first.code)
      expect(await redeemCode(db, browsers, third.code, nowMs)).toMatchObject({ problem: "wrong" });
    expect(await redeemCode(db, browsers, first.code, nowMs)).toEqual({ email });
    expect(await redeemCode(db, [first.browser], first.code, nowMs)).toEqual({ problem: "used" });
  });

  it("works in no other browser, even if its hash was copied to that one's row", async () => {
    const { email, code } = await make();
    const other = await make();
    const { code_hash } = await db
      .selectFrom("sign_in_codes")
      .select("code_hash")
      .where("email", "=", email)
      .executeTakeFirstOrThrow();
    await db.updateTable("sign_in_codes").set({ code_hash }).where("email", "=", other.email).execute();
    expect(await redeemCode(db, [other.browser], code, nowMs)).toMatchObject({ problem: "wrong" });
    expect(await redeemCode(db, ["unknown"], code, nowMs)).toEqual({ problem: "used" });
  });

  it("does not count as an attempt if it is malformed", async () => {
    const { email, browser, code } = await make();
    const twoCodes = `Not ${code === "000000" ? "000001" : "000000"} but ${code}`;
    for (const typed of ["", "12345", "1234567", "12345a", "٣٤٥٦٧", "一二三四五六", twoCodes]) {
      expect(await redeemCode(db, [browser], typed, nowMs)).toEqual({ problem: "form" });
    }
    const pasted = `${code.slice(0, 3)}-${code.slice(3)} is your code, for 10 minutes.\n`;
    expect(await redeemCode(db, [browser], pasted, nowMs)).toMatchObject({ email });
    const other = await make();
    const fullWidth = other.code.replace(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit)));
    const typed = `${fullWidth.slice(0, 3)}　－　${fullWidth.slice(3)}`;
    expect(await redeemCode(db, [other.browser], typed, nowMs)).toMatchObject({ email: other.email });
  });

  it("is short for three requests of unknown browsers from one address, five from all, and then long", async () => {
    const email = newEmail();
    const from = (address?: string) => ({ email, address });
    expect(await kindsOf([from("a"), from("a"), from("a"), from("a")])).toEqual([
      "short, mailed",
      "short, mailed",
      "short, mailed",
      "long, mailed",
    ]);
    expect(await kindsOf([from("b"), from(), from("c"), from()])).toEqual([
      "short, mailed",
      "short, mailed",
      "long",
      "long",
    ]);
  });

  it("is short again when a day has passed, to the millisecond", async () => {
    const email = newEmail();
    for (let asked = 0; asked < 5; asked++) await make({ email }, nowMs + asked * 60_000);
    await kindsOf([{ email }], nowMs + 300_000);
    expect(await kindsOf([{ email }], nowMs + dayMs - 1)).toEqual(["long, mailed"]);
    expect(await kindsOf([{ email }, { email }], nowMs + dayMs)).toEqual(["short, mailed", "long"]);
  });

  it("counts towards a separate allowance for browsers that signed in to the email before", async () => {
    const email = newEmail();
    await kindsOf(Array.from({ length: 20 }, () => ({ email, address: "a" })));
    const known = { email, address: "a", isKnown: true };
    const kinds = await kindsOf(Array.from({ length: 11 }, () => known));
    expect(kinds).toEqual([...Array.from({ length: 10 }, () => "short, mailed"), "long"]);
  });

  it("no longer counts when it is redeemed, because only its owner can do that", async () => {
    const email = newEmail();
    for (let signedIn = 0; signedIn < 8; signedIn++) {
      const { browser, code } = await make({ email, address: "a" });
      expect(await redeemCode(db, [browser], code, nowMs)).toMatchObject({ email });
    }
  });

  it("does not exceed its allowances with 30 concurrent requests", async () => {
    const email = newEmail();
    const before = await posted();
    // A request that waits too long for a connection on a busy machine has done nothing, so it is repeated.
    const ask = (address: string): ReturnType<typeof makeCode> =>
      makeCode(db, { email, address }, nowMs).catch(() => ask(address));
    const asked = await Promise.all(Array.from({ length: 30 }, (_, at) => ask(`${at}`)));
    const codes = await Promise.all(asked.map(({ browser }) => findRequestedCode(db, browser, nowMs)));
    const isLong = codes.map((code) => "isLong" in code && code.isLong);
    expect([isLong.filter((long) => !long).length, isLong.filter(Boolean).length]).toEqual([5, 25]);
    expect((await posted()) - before).toBe(6);
  });

  describe("that is long", () => {
    /** Makes the long code of an email, with browsers that requested it. */
    async function makeLong(browsers: number) {
      const email = newEmail();
      for (let asked = 0; asked < 5; asked++) await make({ email });
      const { code, browser } = await make({ email });
      const others = [];
      while (others.length < browsers - 1) others.push((await makeCode(db, { email }, nowMs)).browser);
      return { email, code, browsers: [browser, ...others] as [string, ...string[]] };
    }

    it("works once, in any browser that requested it, for six hours to the millisecond", async () => {
      const { email, code, browsers } = await makeLong(3);
      const [first, second, third = ""] = browsers;
      expect(code).toMatch(/^[0-9A-HJKMNP-TV-Z]{12}$/);
      expect(await findRequestedCode(db, third, nowMs)).toEqual({
        email,
        isLong: true,
        characters: 12,
        postedAtMs: nowMs,
        untilMs: nowMs + sixHoursMs,
      });
      expect(await redeemCode(db, [first], code, nowMs + sixHoursMs)).toEqual({ problem: "expired" });
      const typed = `${code.slice(0, 4)}-${code.slice(4, 8)} ${code.slice(8).toLowerCase()}`;
      expect(await redeemCode(db, [second ?? ""], typed, nowMs + sixHoursMs - 1)).toMatchObject({ email });
      for (const browser of browsers) {
        expect(await redeemCode(db, [browser], code, nowMs)).toEqual({ problem: "used" });
        expect(await findRequestedCode(db, browser, nowMs)).toEqual({ ended: "used" });
      }
    });

    it.each([
      ["O", "0"],
      ["l", "1"],
    ])("is taken with %s where it has %s, as people read it", async (letter, figure) => {
      let made = await makeLong(1);
      while (!made.code.includes(figure)) made = await makeLong(1);
      const { email, code, browsers } = made;
      const [browser] = browsers;
      const misread = code.replaceAll(figure, letter);
      expect(await redeemCode(db, [browser], misread.replace(/^./, "U"), nowMs)).toEqual({ problem: "form" });
      const fullWidth = misread.replace(/\w/g, (sign) =>
        String.fromCodePoint(0xfee0 + (sign.codePointAt(0) ?? 0)),
      );
      expect(
        await redeemCode(db, [browser], `${fullWidth.slice(0, 6)} – ${fullWidth.slice(6)}`, nowMs),
      ).toEqual({ email });
    });

    it("is mailed once in six hours, however often it is requested", async () => {
      const email = newEmail();
      const before = await posted();
      for (let minute = 0; minute < 24 * 60; minute += 30) {
        await makeCode(db, { email, address: `${minute}` }, nowMs + minute * 60_000);
      }
      // Five short codes, and long ones 150, 510, 870 and 1230 minutes after the first.
      expect((await posted()) - before).toBe(9);
    });
  });

  it("is deleted after a day, and a long one when it has expired", async () => {
    const beginsMs = nowMs + 10 * dayMs;
    const email = newEmail();
    for (let asked = 0; asked < 6; asked++) await makeCode(db, { email }, beginsMs);
    const left = async () => {
      const codes = await db.selectFrom("sign_in_codes").select("share").where("email", "=", email).execute();
      const long = await db.selectFrom("sign_in_emails").where("email", "=", email).selectAll().execute();
      return [codes.length, long.length];
    };
    for (const [atMs, kept] of [
      [beginsMs + sixHoursMs - 1, [6, 1]],
      [beginsMs + sixHoursMs, [6, 0]],
      [beginsMs + dayMs - 1, [6, 0]],
      [beginsMs + dayMs, [0, 0]],
    ] as const) {
      await sweepCodes(db, atMs);
      expect(await left()).toEqual(kept);
    }
  });

  it("is evicted with the oldest beyond a ceiling, and from then on every code is long, for there is no count", async () => {
    const beginsMs = nowMs + 20 * dayMs;
    const askers = Array.from({ length: 12 }, () => ({ email: newEmail() }));
    for (const [at, asker] of askers.entries()) await makeCode(db, asker, beginsMs + at);
    const soonMs = beginsMs + 20;
    await sweepCodes(db, soonMs, 10);
    const counts = await Promise.all(
      askers.map(async ({ email }) => {
        const codes = db.selectFrom("sign_in_codes").select("email").where("email", "=", email);
        return (await codes.execute()).length;
      }),
    );
    expect(counts).toEqual([0, 0, ...Array(10).fill(1)]);
    expect(await db.selectFrom("sign_in_mails").select("id").execute()).toHaveLength(10);
    expect((await make({}, soonMs)).code).toMatch(/^[0-9A-Z]{12}$/);
    expect((await make({}, soonMs + dayMs)).code).toMatch(/^\d{6}$/);
  });

  it("is stored neither in clear text nor as a hash that a million guesses would find", async () => {
    const { email, code } = await make();
    const codes = db.selectFrom("sign_in_codes").selectAll().where("email", "=", email);
    const row = await codes.executeTakeFirstOrThrow();
    expect(JSON.stringify(row)).not.toContain(code);
    expect(row.code_hash).toMatch(/^[\w-]{43}$/);
  });

  describe("while someone guesses at many emails", async () => {
    const atMs = nowMs + 100 * dayMs; // after the codes of the other tests
    const guess = async (made: { browser: string; code: string }) => {
      const wrong = made.code.startsWith("1") ? made.code.replace("1", "2") : `1${made.code.slice(1)}`;
      return redeemCode(db, [made.browser], wrong, atMs);
    };

    it("has eight characters, and six digits are no longer taken: not more than 30 are judged in all", async () => {
      const asked: Awaited<ReturnType<typeof make>>[] = [];
      for (let n = 0; n < 10; n++) asked.push(await make({}, atMs));
      const known = await make({ isKnown: true }, atMs);
      let judged = 0;
      for (const made of asked) {
        for (let n = 0; n < 5; n++) {
          const result = await guess(made);
          if (!("problem" in result && result.problem === "longer")) judged++;
        }
      }
      expect(judged).toBe(30);
      const [spared] = asked.slice(-1);
      expect(await redeemCode(db, [spared?.browser ?? ""], spared?.code ?? "", atMs)).toEqual({
        problem: "longer",
      });
      expect(await redeemCode(db, [known.browser], known.code, atMs)).toEqual({ email: known.email });
      const longer = await make({ email: spared?.email ?? "" }, atMs);
      expect(longer.code).toMatch(/^[0-9A-HJKMNP-TV-Z]{8}$/);
      expect(await findRequestedCode(db, longer.browser, atMs)).toMatchObject({
        isLong: false,
        characters: 8,
      });
      const typed = `${longer.code.slice(0, 4)}-${longer.code.slice(4)}`.toLowerCase();
      expect(await redeemCode(db, [longer.browser], typed, atMs)).toEqual({ email: longer.email });
    });

    it("has six digits again an hour after the last wrong one", async () => {
      expect((await make({}, atMs + 60 * 60 * 1000 - 1)).code).toHaveLength(8);
      expect((await make({}, atMs + 60 * 60 * 1000)).code).toMatch(/^\d{6}$/);
    });

    it("is not made longer by people who mistype and then sign in", async () => {
      const laterMs = atMs + dayMs;
      for (let n = 0; n < 12; n++) {
        const { browser, code } = await make({}, laterMs);
        for (let n = 0; n < 4; n++)
          await redeemCode(db, [browser], String((Number(code) + 1) % 1e6).padStart(6, "0"), laterMs);
        expect(await redeemCode(db, [browser], code, laterMs)).toHaveProperty("email");
      }
      expect((await make({}, laterMs)).code).toMatch(/^\d{6}$/);
    });
  });
});
