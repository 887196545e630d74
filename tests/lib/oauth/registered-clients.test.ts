import { describe, expect, it } from "vitest";
import { findRegisteredClient, forgetRegisteredClient, issueClient } from "@/lib/oauth/registered-clients";
import { startStage } from "@/tests/support/block";
import { engines } from "@/tests/support/engines";

describe.each(engines)("a client that registered, on $name", async (engine) => {
  const stage = await startStage(engine);
  Object.assign(process.env, stage.environment);
  const db = await stage.open();

  it("is forgotten again after a removal that ended half-way", async () => {
    const nowMs = Date.now();
    const { client_id: id } = issueClient({ client_name: "An app", redirect_uris: [] }, nowMs);
    expect(await findRegisteredClient(db, id, nowMs)).toMatchObject({ name: "An app" });
    for (let time = 0; time < 2; time++) await forgetRegisteredClient(db, id, nowMs);
    expect(await findRegisteredClient(db, id, nowMs)).toBeUndefined();
  });
});
