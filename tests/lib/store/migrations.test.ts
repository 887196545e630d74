import { Migrator } from "kysely";
import { describe, expect, it } from "vitest";
import { suppressEmail } from "@/lib/onboarding/outbox";
import { migrations } from "@/lib/store/migrations";
import { type Db, Store } from "@/lib/store/store";
import { engines } from "@/tests/support/engines";

const dayMs = 24 * 60 * 60 * 1000;

describe.each(engines)("migration 003 on $name", (engine) => {
  it("keeps the mails of every account, and gives up those that were due before mail was delivered", async () => {
    const stage = await engine.prepare();
    const { DATABASE_URL, DATA_DIR = "" } = stage.environment;
    const settings = { databaseUrl: DATABASE_URL, dataDir: DATA_DIR };
    await migrateAsOf("002", settings);
    const nowMs = Date.now();
    await stage.query(
      `INSERT INTO accounts (id, email, plan, created_at_ms) VALUES ('acc_1', 'ceo@example.com', 'hobby', ${nowMs})`,
    );
    const rows = [
      ["welcome", nowMs - 3 * dayMs, "scheduled"],
      ["first-assistant", nowMs - 1000, "scheduled"],
      ["approvals", nowMs - 3 * dayMs, "stopped"],
      ["credits", nowMs + dayMs, "scheduled"],
    ] as const;
    for (const [kind, due, state] of rows) {
      await stage.query(
        `INSERT INTO onboarding_emails VALUES ('${kind}', 'acc_1', '${kind}', ${due}, '${state}')`,
      );
    }

    const store = new Store(settings);
    const db = await store.ready();
    const migrated = await db
      .selectFrom("onboarding_emails")
      .select(["kind", "due_at_ms", "next_attempt_at_ms", "state", "failure", "attempts"])
      .orderBy("kind")
      .execute();
    const [welcome, first, approvals, credits] = rows;
    const row = ([kind, due_at_ms, state]: (typeof rows)[number], failure: string | null = null) => ({
      ...{ kind, due_at_ms, next_attempt_at_ms: due_at_ms, state, failure, attempts: 0 },
    });
    expect(migrated).toEqual([
      row(approvals),
      row(credits),
      row(first),
      { ...row(welcome, "due before mail was delivered"), state: "failed" },
    ]);
    await suppressEmail(db, "ceo@example.com", nowMs);
    expect((await stage.query("SELECT kind FROM onboarding_emails WHERE state = 'stopped'")).length).toBe(3);
    await store.close();
    await stage.clear();
  });
});

/** Brings an empty store to what it was with the migrations up to this one. */
async function migrateAsOf(last: string, settings: ConstructorParameters<typeof Store>[0]): Promise<void> {
  const store = new Store(settings);
  const db = (store as unknown as { db: Db }).db;
  const names = Object.keys(migrations).filter((name) => name.slice(0, 3) <= last);
  const before = Object.fromEntries(names.map((name) => [name, migrations[name] ?? expect.fail()]));
  const { error } = await new Migrator({
    db,
    provider: { getMigrations: async () => before },
  }).migrateToLatest();
  if (error) throw error;
  await store.close();
}
