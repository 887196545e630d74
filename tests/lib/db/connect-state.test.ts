import { inspect } from "node:util";
import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import { beginOfClient, clientOfState, subjectOfState } from "@/lib/db/connect-state";
import { isPostgres } from "@/lib/db/event-triggers";
import { startStage } from "@/tests/support/block";
import { everyEngine } from "@/tests/support/engines";

const registered = `app_${"a".repeat(2000)}`;

describe.each(everyEngine)("the rows of apps on $name", async (engine) => {
  const stage = await startStage(engine);
  const db = await stage.open();
  const each = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)";
  await stage.query(
    `INSERT INTO connect_state (kind, id_hash, payload, grant_id, expires_at_ms) ${each}
       SELECT 'RefreshToken', 'other-' || i, '{"accountId":"user_' || i || '","clientId":"desk"}', 'grant-' || i, 1 FROM n`,
  );
  const say = (kind: string, grantId: string | null, payload: object) =>
    db
      .insertInto("connect_state")
      .values({
        kind,
        id_hash: kind,
        payload: JSON.stringify(payload),
        grant_id: grantId,
        expires_at_ms: 1,
      })
      .execute();
  await say("RefreshToken", "g", { accountId: "user_x", grantId: "g", clientId: registered });
  await say("Grant", null, { accountId: "user_x", clientId: registered });
  await say("Interaction", "g", { params: {}, result: { login: { accountId: "user_x" } } });
  await say("DeviceCode", null, { params: { state: '"accountId":"user_x"' }, note: "\0\ud800" });
  await stage.query("ANALYZE");

  it("are found by their account and by their client", async () => {
    const rows = db.selectFrom("connect_state").select("kind").orderBy("kind");
    const ofAccount = await rows.where(subjectOfState(db), "=", "user_x").execute();
    expect(ofAccount.map(({ kind }) => kind)).toEqual(["Grant", "Interaction", "RefreshToken"]);
    const ofClient = await rows.where(clientOfState(db), "=", beginOfClient(registered)).execute();
    expect(ofClient.map(({ kind }) => kind)).toEqual(["Grant", "RefreshToken"]);
  });

  it("are found by an index, so no statement reads the payloads of all", async () => {
    const rows = db.selectFrom("connect_state").select("grant_id");
    const ofAccount = rows.where(subjectOfState(db), "=", "user_x");
    const ofClient = rows
      .where("grant_id", "is not", null)
      .where(clientOfState(db), "=", beginOfClient(registered));
    const options = isPostgres(db) ? undefined : sql`query plan`;
    expect(inspect(await ofAccount.explain(undefined, options))).toContain("connect_state_subject");
    expect(inspect(await ofClient.explain(undefined, options))).toContain("connect_state_client");
  });
});
