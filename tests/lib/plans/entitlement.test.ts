import { describe, expect, it } from "vitest";
import { type Decided, decideEntitlement } from "@/lib/plans/entitlement";

const endsAtMs = Date.parse("2027-01-31T09:00:00.250Z");
const endless = { given_ends_at_ms: null, given_after: null };
const trial: Decided = { plan: "trial", trial_ends_at_ms: endsAtMs, ...endless };
const licensed: Decided = { plan: "licensed", trial_ends_at_ms: null, ...endless };

describe("decideEntitlement", () => {
  it("ends a trial at its end time, and not a millisecond earlier", () => {
    expect(decideEntitlement(trial, endsAtMs - 1)).toEqual({
      ok: true,
      status: "trial",
      trialEndsAt: "2027-01-31T09:00:00.250Z",
      recheckAfterSeconds: 1,
    });
    expect(decideEntitlement(trial, endsAtMs)).toEqual({ ok: false, status: "trial-ended" });
  });

  it.each([
    [900_001, 900],
    [900_000, 900],
    [899_999, 899],
    [1_999, 1],
    [1_000, 1],
    [1, 1],
  ])("with %i ms of trial left returns a recheck time of at most %i s", (leftMs, recheckAfterSeconds) => {
    expect(decideEntitlement(trial, endsAtMs - leftMs, 0.9999)).toMatchObject({ recheckAfterSeconds });
    const given = { ...licensed, given_ends_at_ms: endsAtMs };
    expect(decideEntitlement(given, endsAtMs - leftMs, 0.9999)).toMatchObject({ recheckAfterSeconds });
  });

  it("spreads the recheck time over 10 to 15 minutes for every plan", () => {
    for (const account of [licensed, trial]) {
      const asked = [0, 0.5, 0.9999].map((chance) => decideEntitlement(account, 0, chance));
      expect(asked.map((decided) => decided.ok && decided.recheckAfterSeconds)).toEqual([600, 750, 900]);
    }
  });
});
