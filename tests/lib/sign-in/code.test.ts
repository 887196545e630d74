import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { findCodeEmail, makeCode, redeemCode } from "@/lib/sign-in/code";
import { type Db, Store } from "@/lib/store/store";
import { createDatabase } from "@/tests/support/databases";
import { makeFolder } from "@/tests/support/leash";

const nowMs = 1_800_000_000_000;
const tenMinutesMs = 10 * 60 * 1000;
const hourMs = 60 * 60 * 1000;
const postgresUrl = inject("postgresUrl");

describe.each(postgresUrl ? ["the embedded store", "PostgreSQL"] : ["the embedded store"])(
  "a code on %s",
  (engine) => {
    const dataDir = makeFolder();
    let store: Store;
    let db: Db;
    let emails = 0;
    const newEmail = () => `${++emails}@example.com`;

    async function make(email = newEmail(), atMs = nowMs) {
      const made = await makeCode(db, email, atMs);
      if (!made) throw new Error("no code was made");
      return { email, ...made };
    }

    beforeAll(async () => {
      const databaseUrl =
        engine === "PostgreSQL" && postgresUrl ? await createDatabase(postgresUrl) : undefined;
      store = new Store({ databaseUrl, dataDir });
      db = await store.ready();
    });
    afterAll(async () => {
      await store.close();
    });

    it("signs in the email that it was made for, once", async () => {
      const { email, browser, code } = await make();
      expect(code).toMatch(/^\d{6}$/);
      expect(await findCodeEmail(db, browser, nowMs)).toBe(email);
      expect(await redeemCode(db, browser, code, nowMs)).toEqual({ email });
      expect(await redeemCode(db, browser, code, nowMs)).toEqual({ problem: "over" });
      expect(await findCodeEmail(db, browser, nowMs)).toBeUndefined();
    });

    it("is redeemed by one of many that try at once", async () => {
      const { browser, code } = await make();
      const tries = await Promise.all([1, 2, 3, 4].map(() => redeemCode(db, browser, code, nowMs)));
      expect(tries.filter((redeemed) => "email" in redeemed)).toHaveLength(1);
    });

    it("lives ten minutes to the millisecond", async () => {
      const { email, browser, code } = await make();
      expect(await redeemCode(db, browser, code, nowMs + tenMinutesMs)).toEqual({ problem: "over" });
      expect(await redeemCode(db, browser, code, nowMs + tenMinutesMs - 1)).toEqual({ email });
    });

    it("bears four wrong tries, and no fifth", async () => {
      const wrong = (code: string) => String((Number(code) + 1) % 1_000_000).padStart(6, "0");
      const [lucky, unlucky] = [await make(), await make()];
      for (const triesLeft of [4, 3, 2, 1]) {
        const answer = { problem: "wrong", triesLeft };
        expect(await redeemCode(db, lucky.browser, wrong(lucky.code), nowMs)).toEqual(answer);
        expect(await redeemCode(db, unlucky.browser, wrong(unlucky.code), nowMs)).toEqual(answer);
      }
      expect(await redeemCode(db, lucky.browser, lucky.code, nowMs)).toEqual({ email: lucky.email });
      expect(await redeemCode(db, unlucky.browser, wrong(unlucky.code), nowMs)).toEqual({ problem: "over" });
      expect(await redeemCode(db, unlucky.browser, unlucky.code, nowMs)).toEqual({ problem: "over" });
    });

    it("counts tries that come at once as it counts tries in turn", async () => {
      const { browser, code } = await make();
      const other = code === "000000" ? "000001" : "000000";
      const tries = await Promise.all(
        Array.from({ length: 20 }, () => redeemCode(db, browser, other, nowMs)),
      );
      expect(tries.filter((redeemed) => "problem" in redeemed && redeemed.problem === "wrong")).toHaveLength(
        4,
      );
    });

    it("works in no other browser", async () => {
      const { code } = await make();
      const other = await make();
      if (other.code !== code) {
        expect(await redeemCode(db, other.browser, code, nowMs)).toMatchObject({ problem: "wrong" });
      }
      expect(await redeemCode(db, "of nobody", code, nowMs)).toEqual({ problem: "over" });
    });

    it("is made five times an hour for one email", async () => {
      const email = newEmail();
      for (let minute = 0; minute < 5; minute++) await make(email, nowMs + minute * 60_000);
      expect(await makeCode(db, email, nowMs + hourMs - 1)).toBeUndefined();
      expect(await makeCode(db, newEmail(), nowMs + hourMs - 1)).toBeDefined();
      expect(await makeCode(db, email, nowMs + hourMs)).toBeDefined();
    });

    it("is stored neither in clear nor so that a million tries would find it", async () => {
      const { email, browser, code } = await make();
      const row = await db
        .selectFrom("sign_in_codes")
        .selectAll()
        .where("email", "=", email)
        .executeTakeFirstOrThrow();
      expect(JSON.stringify(row)).not.toContain(code);
      expect(JSON.stringify(row)).not.toContain(browser);
      expect(row.code_hash).toMatch(/^[\w-]{43}$/);
    });
  },
);
