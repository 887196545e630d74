import { describe, expect, it } from "vitest";
import { approvedKind } from "@/lib/auth/sessions/session";
import { endSessionsOf } from "@/lib/auth/sessions/session-end";
import { anyRow } from "@/tests/support/any-row";
import { startStageForEach } from "@/tests/support/block";
import { engines } from "@/tests/support/engines";

const nowMs = Date.now();

describe.each(engines)("sessions that are ended, on $name", async (engine) => {
  const { stage, db } = await startStageForEach(engine);

  it.each([
    ["app", ["mine browser", "mine program"]],
    ["browser", [`mine ${approvedKind}`, "mine app", "mine program"]],
    [undefined, []],
  ] as const)("are those of the kind: %s, and of no one else", async (kind, left) => {
    for (const owner of ["mine", "other"]) {
      await anyRow(stage, "accounts", { id: owner }, owner);
      for (const each of ["browser", "program", "app", approvedKind]) {
        const row = { kind: each, account_id: owner, expires_at_ms: nowMs + 60_000 };
        await anyRow(stage, "local_sessions", row, `${owner} ${each}`);
      }
    }
    const which = kind ? { kind } : {};
    await endSessionsOf(db, { by: "owner", what: "session end", accountId: "mine", which }, nowMs);
    const current = await stage.query(
      `SELECT id FROM local_sessions WHERE expires_at_ms > ${nowMs} ORDER BY id`,
    );
    const others = ["app", approvedKind, "browser", "program"].map((each) => `other ${each}`);
    expect(current.map(({ id }) => String(id)).sort()).toEqual([...left, ...others].sort());
  });
});
