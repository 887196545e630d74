import { describe, expect, it } from "vitest";
import { OAuthState } from "@/lib/oauth/adapter";
import { keepSeenRequest } from "@/lib/oauth/approval";
import { startStage } from "@/tests/support/block";
import { engines } from "@/tests/support/engines";

describe.each(engines)("the state of the authorization server, on $name", async (engine) => {
  const stage = await startStage(engine);
  Object.assign(process.env, stage.environment);

  it("takes the first of two answers to what both have read", async () => {
    const db = await stage.open();
    const state = new OAuthState("Interaction");
    await state.upsert("asked", { uid: "asked" }, 60);
    const before = await state.read("id_hash", "asked");
    const answer = (accountId: string) =>
      state.amend(db, "id_hash", "asked", before ?? expect.fail(), { accountId });
    expect([await answer("first"), await answer("second")]).toEqual([true, false]);
    expect(await state.find("asked")).toMatchObject({ accountId: "first" });
  });

  it("keeps twenty requests for each owner who has seen them, however many others have", async () => {
    const db = await stage.open();
    const state = new OAuthState("Interaction");
    for (const [owner, many] of [
      ["busy", 21],
      ["other", 1],
    ] as const)
      for (let n = 0; n < many; n++) {
        await state.upsert(`${owner} ${n}`, {}, 60);
        await keepSeenRequest(db, { by: "request", state, key: "id_hash", id: `${owner} ${n}` }, owner);
      }
    const kept = await stage.query(
      "SELECT count(*) AS kept FROM connect_state WHERE grant_id LIKE 'seen by %' GROUP BY grant_id ORDER BY kept",
    );
    expect(kept.map((row) => Number(row.kept))).toEqual([1, 20]);
  });

  it("has one row of an id, whose payload is that of the last call", async () => {
    const grants = new OAuthState("Grant");
    for (const accountId of ["first", "last"]) await grants.upsert("id", { accountId }, 60);
    expect(await grants.find("id")).toMatchObject({ accountId: "last", jti: "id" });
    expect(
      await stage.query("SELECT kind FROM connect_state WHERE kind = 'Grant' AND grant_id IS NULL"),
    ).toHaveLength(1);
  });
});
