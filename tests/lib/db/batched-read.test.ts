import { describe, expect, it } from "vitest";
import { batchedRead } from "@/lib/db/batched-read";
import { engines } from "@/tests/support/engines";

describe.each(engines)("batchedRead on $name", (engine) => {
  it("returns each caller's own row or undefined, and builds one query per database", async () => {
    let built = 0;
    const findJoined = batchedRead<{ email: string; sinceMs: number }, { joined_at_ms: number }>(
      (db, inputs) => {
        built++;
        return db
          .selectFrom(inputs)
          .innerJoin("waitlist", "waitlist.email", "asked.email")
          .whereRef("joined_at_ms", ">=", "asked.sinceMs")
          .where("invited_at_ms", "is", null)
          .select(["asked.place", "joined_at_ms"]);
      },
    );
    for (const stage of [await engine.prepare(), await engine.prepare()]) {
      built = 0;
      const db = await stage.open();
      await stage.query(
        "INSERT INTO waitlist (email, joined_at_ms) VALUES ('a@example.com', 10), ('b@example.com', 20)",
      );
      const find = async (email: string, sinceMs: number) =>
        (await findJoined(db, { email, sinceMs }))?.joined_at_ms;
      expect(await find("a@example.com", 10)).toBe(10);
      expect(await find("a@example.com", 11)).toBeUndefined();
      expect(await find("' OR 1=1 --", 0)).toBeUndefined();
      expect(built).toBe(1);
      const together = [
        ["a@example.com", 10, 10],
        ["nobody@example.com", 0, undefined],
        ["b@example.com", 2 ** 40, undefined],
        ["b@example.com", 20, 20],
        ["a@example.com", 0, 10],
      ] as const;
      for (let time = 0; time < 2; time++) {
        expect(await Promise.all(together.map(([email, sinceMs]) => find(email, sinceMs)))).toEqual(
          together.map(([, , joinedAtMs]) => joinedAtMs),
        );
      }
      expect(built).toBe(1);
      const crowd = Array.from({ length: 100 }, (_, n) =>
        find(n % 3 === 0 ? "b@example.com" : "x@example.com", n % 2),
      );
      expect(await Promise.all(crowd)).toEqual(
        Array.from({ length: 100 }, (_, n) => (n % 3 === 0 ? 20 : undefined)),
      );
      await stage.clear();
      await expect(Promise.all([find("a@example.com", 0), find("b@example.com", 0)])).rejects.toThrow();
    }
  });
});
