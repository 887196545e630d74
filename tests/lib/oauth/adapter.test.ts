import { describe, expect, it } from "vitest";
import { OAuthState } from "@/lib/oauth/adapter";
import { startStage } from "@/tests/support/block";
import { engines } from "@/tests/support/engines";

describe.each(engines)("the state of the authorization server, on $name", async (engine) => {
  const stage = await startStage(engine);
  Object.assign(process.env, stage.environment);

  it("has one row of an id, whose payload is that of the last call", async () => {
    const grants = new OAuthState("Grant");
    for (const accountId of ["first", "last"]) await grants.upsert("id", { accountId }, 60);
    expect(await grants.find("id")).toMatchObject({ accountId: "last", jti: "id" });
    expect(
      await stage.query("SELECT kind FROM connect_state WHERE kind = 'Grant' AND grant_id IS NULL"),
    ).toHaveLength(1);
  });
});
