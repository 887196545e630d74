import { afterAll, describe, expect, it } from "vitest";
import { addAccount } from "@/lib/accounts/joining/invitations";
import { listSessions } from "@/lib/auth/sessions/session";
import { recordSessionUse } from "@/lib/auth/sessions/session-use";
import { dayMs } from "@/lib/config/durations";
import { closeStore, store } from "@/lib/db/store";
import { startAppSession } from "@/lib/oauth/app-session";
import { createFolder } from "@/tests/support/leash";

describe("when a session was last used", async () => {
  const hourMs = 60 * 60 * 1000;
  const nowMs = 1_800_000_000_000;

  process.env.DATA_DIR = createFolder();
  const db = await store();
  afterAll(closeStore);
  const { id: accountId } = await addAccount(db, "ceo@example.com", {}, nowMs);
  for (const id of ["one", "other"]) {
    await startAppSession(db, { id, account_id: accountId, name: "Desk", app_origin: "a device" }, nowMs);
  }

  const use = (id: string, last_seen_at_ms: number | null, atMs: number) =>
    recordSessionUse(
      id,
      { expires_at_ms: nowMs + 1, last_date_ms: nowMs + 180 * dayMs, last_seen_at_ms },
      atMs,
    );
  const seen = async () => {
    const sessions = await listSessions(db, accountId, nowMs);
    return Object.fromEntries(sessions.map(({ id, last_seen_at_ms }) => [id, last_seen_at_ms]));
  };
  const eventually = (expected: object) => expect.poll(seen).toEqual(expected);

  it("is stored at its first use", async () => {
    use("one", null, nowMs);
    await eventually({ one: nowMs, other: null });
  });

  it("is written once an hour, also if the store's value is still old or the write failed", async () => {
    await db.updateTable("local_sessions").set({ last_seen_at_ms: null }).execute();
    use("one", null, nowMs + hourMs - 1);
    // Writes run one after the other, so an earlier one would be visible by now.
    use("other", null, nowMs);
    await eventually({ one: null, other: nowMs });
    use("one", null, nowMs + hourMs);
    await eventually({ one: nowMs + hourMs, other: nowMs });
  });

  const ends = async (id: string) =>
    (await listSessions(db, accountId, nowMs)).find((session) => session.id === id)?.expires_at_ms;

  it("moves the end neither of a session without a last date nor of one that has ended: lifetimes.test.ts has others", async () => {
    const change = (change: object) =>
      db.withoutPlugins().updateTable("local_sessions").set(change).where("id", "=", "other").execute();
    await change({ last_date_ms: null, expires_at_ms: nowMs + 7 * dayMs });
    const row = { expires_at_ms: nowMs + 7 * dayMs, last_date_ms: null, last_seen_at_ms: null };
    expect(recordSessionUse("other", row, nowMs + 5 * dayMs)).toBe(nowMs + 7 * dayMs);
    await expect.poll(async () => (await seen()).other).toBe(nowMs + 5 * dayMs);
    expect(await ends("other")).toBe(nowMs + 7 * dayMs);
    await change({ last_date_ms: nowMs + 180 * dayMs, expires_at_ms: nowMs + 6 * dayMs });
    use("other", nowMs, nowMs + 6 * dayMs + hourMs);
    use("one", nowMs, nowMs + 7 * dayMs);
    await expect.poll(async () => (await seen()).one).toBe(nowMs + 7 * dayMs);
    expect(await ends("other"), "it ended before").toBe(nowMs + 6 * dayMs);
  });
});
