import { afterAll, describe, expect, it } from "vitest";
import { closeStore, store } from "@/lib/db/store";
import { OAuthState } from "@/lib/oauth/adapter";
import { createFolder } from "@/tests/support/leash";

describe("a row of the authorization server", () => {
  const codes = new OAuthState("AuthorizationCode");
  const devices = new OAuthState("DeviceCode");

  process.env.DATA_DIR = createFolder();
  afterAll(closeStore);

  it("is answered once, however many requests have read it before: the first answer counts", async () => {
    await devices.upsert("a device", { userCode: "BBBBBBBB" }, 60);
    const name = ["look_up_hash", "BBBBBBBB"] as const;
    const read = (await devices.read(...name)) ?? expect.fail("it is kept");
    expect(await devices.amend(...name, read, { error: "access_denied" })).toBe(true);
    expect(await devices.amend(...name, read, { accountId: "user_1" })).toBe(false);
    expect(await devices.find("a device")).toMatchObject({ error: "access_denied" });
  });

  it("is found until it expires, only under its own kind, and not by the hash in the store", async () => {
    await codes.upsert("over", {}, 0);
    await codes.upsert("kept", { uid: "its other name" }, 60);
    expect(await codes.find("over")).toBeUndefined();
    expect(await codes.findByUid("its other name")).toMatchObject({ uid: "its other name" });
    expect(await devices.find("kept")).toBeUndefined();
    const rows = await (await store())
      .selectFrom("connect_state")
      .select(["id_hash", "look_up_hash"])
      .execute();
    expect(JSON.stringify(rows)).not.toMatch(/kept|its other name/);
  });
});
