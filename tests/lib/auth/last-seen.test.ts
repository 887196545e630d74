import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { addAccount } from "@/lib/accounts/invitations";
import { recordSessionUse } from "@/lib/auth/last-seen";
import { listSessions } from "@/lib/auth/session";
import { closeStore, type Db, store } from "@/lib/db/store";
import { startAppSession } from "@/lib/oauth/app-session";
import { createFolder } from "@/tests/support/leash";

describe("when a session was last used", () => {
  const hourMs = 60 * 60 * 1000;
  const nowMs = 1_800_000_000_000;
  let db: Db;
  let accountId: string;

  beforeAll(async () => {
    vi.stubEnv("DATA_DIR", createFolder());
    db = await store();
    accountId = (await addAccount(db, "ceo@example.com", {}, nowMs)).id;
    for (const id of ["one", "other"]) {
      await startAppSession(
        db,
        { id, accountId, name: "Desk", origin: "a device", endsAtMs: nowMs + 100 * hourMs },
        nowMs,
      );
    }
  });
  afterAll(async () => {
    await closeStore();
    vi.unstubAllEnvs();
  });

  const seen = async () => {
    const sessions = await listSessions(db, accountId, nowMs);
    return Object.fromEntries(sessions.map(({ id, lastSeenAtMs }) => [id, lastSeenAtMs]));
  };
  const eventually = (expected: object) => expect.poll(seen).toEqual(expected);

  it("is stored at its first use", async () => {
    recordSessionUse("one", null, nowMs);
    await eventually({ one: nowMs, other: null });
  });

  it("is written once an hour, also if the store's value is still old or the write failed", async () => {
    await db.updateTable("local_sessions").set({ last_seen_at_ms: null }).execute();
    recordSessionUse("one", null, nowMs + hourMs - 1);
    // Writes run one after the other, so an earlier one would be visible by now.
    recordSessionUse("other", null, nowMs);
    await eventually({ one: null, other: nowMs });
    recordSessionUse("one", null, nowMs + hourMs);
    await eventually({ one: nowMs + hourMs, other: nowMs });
  });

  it("is written again when the store's value is an hour old", async () => {
    recordSessionUse("other", nowMs, nowMs + hourMs);
    await eventually({ one: nowMs + hourMs, other: nowMs + hourMs });
  });
});
