import { describe, expect, it } from "vitest";
import type { Account } from "@/lib/accounts/accounts";
import { decideEntitlement } from "@/lib/accounts/entitlement";

const endsAtMs = Date.parse("2027-01-31T09:00:00.250Z");
const account = {
  id: "acc_1",
  email: "ceo@example.com",
  subject: "user_1",
  assistantLimit: null,
  creditThousandths: 0,
  createdAtMs: 0,
};
const trial: Account = { ...account, plan: "trial", trialEndsAtMs: endsAtMs };

describe("decideEntitlement", () => {
  it("ends a trial at the very instant it names, and not a millisecond earlier", () => {
    expect(decideEntitlement(trial, endsAtMs - 1)).toEqual({
      ok: true,
      status: "trial",
      trialEndsAt: "2027-01-31T09:00:00.250Z",
      recheckAfterSeconds: 1,
    });
    expect(() => decideEntitlement(trial, endsAtMs)).toThrow("The trial of this account has ended.");
  });

  it.each([
    [900_001, 900],
    [900_000, 900],
    [899_999, 899],
    [1_999, 1],
    [1_000, 1],
    [1, 1],
  ])("with %i ms of trial left asks again after %i s", (leftMs, recheckAfterSeconds) => {
    expect(decideEntitlement(trial, endsAtMs - leftMs)).toMatchObject({ recheckAfterSeconds });
  });

  it("tells an assistant limit of zero from none", () => {
    expect(decideEntitlement({ ...account, plan: "hobby", assistantLimit: 0 }, 0)).toHaveProperty(
      "assistantLimit",
      0,
    );
    expect(decideEntitlement({ ...account, plan: "hobby" }, 0)).not.toHaveProperty("assistantLimit");
  });
});
