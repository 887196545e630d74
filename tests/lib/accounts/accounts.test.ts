import { describe, expect, it } from "vitest";
import { setAccount } from "@/lib/accounts/accounts";
import { addAccount } from "@/lib/accounts/invitations";
import { Store } from "@/lib/store/store";
import { engines } from "@/tests/support/engines";

const email = "ceo@example.com";

describe.each(engines)("two operators on $name", (engine) => {
  it("who change different terms of an account at the same moment both have their way", async () => {
    const stage = await engine.prepare();
    const { DATABASE_URL, DATA_DIR = "" } = stage.environment;
    const stores = [1, 2, 3].map(() => new Store({ databaseUrl: DATABASE_URL, dataDir: DATA_DIR }));
    const [first, second, third] = await Promise.all(stores.map((store) => store.ready()));
    if (!first || !second || !third) throw new Error("three stores");
    const nowMs = Date.now();
    await addAccount(first, email, { plan: "trial" }, nowMs);
    for (let n = 1; n <= 20; n++) {
      const trialEndsAtMs = nowMs + n;
      await Promise.all([
        setAccount(first, email, { assistantLimit: n }, nowMs),
        setAccount(second, email, { trialEndsAtMs }, nowMs),
        setAccount(third, email, { creditThousandths: n }, nowMs),
      ]);
      const [row] = await stage.query("SELECT * FROM accounts");
      expect([row?.assistant_limit, row?.trial_ends_at_ms, row?.credit_thousandths].map(Number)).toEqual([
        n,
        trialEndsAtMs,
        n,
      ]);
    }
    await Promise.all(stores.map((store) => store.close()));
    await stage.clear();
  });
});
