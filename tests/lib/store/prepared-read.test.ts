import { describe, expect, it } from "vitest";
import { prepareRead } from "@/lib/store/prepared-read";
import { Store } from "@/lib/store/store";
import { engines } from "@/tests/support/engines";

describe.each(engines)("a prepared read on $name", (engine) => {
  it("is built once for each database, and answers the first row of the values it is given", async () => {
    let built = 0;
    const findJoined = prepareRead<{ email: string; sinceMs: number }, { joined_at_ms: number }>(
      (db, slot) => {
        built++;
        return db
          .selectFrom("waitlist")
          .select("joined_at_ms")
          .where("email", "=", slot("email"))
          .where("joined_at_ms", ">=", slot("sinceMs"))
          .where("invited_at_ms", "is", null)
          .orderBy("joined_at_ms");
      },
    );
    for (const [at, stage] of [await engine.prepare(), await engine.prepare()].entries()) {
      const { DATABASE_URL, DATA_DIR = "" } = stage.environment;
      const store = new Store({ databaseUrl: DATABASE_URL, dataDir: DATA_DIR });
      const db = await store.ready();
      await stage.query("INSERT INTO waitlist (email, joined_at_ms) VALUES ('a@example.com', 10)");
      expect(await findJoined(db, { email: "a@example.com", sinceMs: 10 })).toEqual({ joined_at_ms: 10 });
      expect(await findJoined(db, { email: "a@example.com", sinceMs: 11 })).toBeUndefined();
      expect(await findJoined(db, { email: "' OR 1=1 --", sinceMs: 0 })).toBeUndefined();
      expect(built).toBe(at + 1);
      await store.close();
      await stage.clear();
    }
  });
});
