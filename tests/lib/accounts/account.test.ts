import { describe, expect, it } from "vitest";
import { parseAccount } from "@/lib/accounts/account";
import { maxThousandths } from "@/lib/accounts/credits/ledger";

const nowMs = Date.UTC(2027, 2, 1);
const lastMs = Date.UTC(9999, 11, 31, 23, 59, 59, 999);
const row = {
  id: "acc_1",
  email: "ceo@example.com",
  subject: null,
  plan: "hobby",
  given_plan: null,
  paid_plan: null,
  trial_ends_at_ms: null,
  assistant_limit: null,
  own_features: null,
  own_limits: null,
  given_ends_at_ms: null,
  given_after: null,
  credit_thousandths: 5,
  held_thousandths: 5,
  created_at_ms: nowMs,
  deletes_at_ms: null,
  app_end_mails_stopped_at_ms: null,
  trial_mail_done_ms: null,
  trial_end_told_ms: null,
  credits_due_ms: null,
  reference: null,
  time_zone: null,
} as const satisfies Record<keyof Parameters<typeof parseAccount>[0] & string, unknown>;

const whole = { good: [0, 7], bad: [-1, 0.5, "7", Number.NaN, 2 ** 53] };
const instant = { good: [0, lastMs], bad: [-1, lastMs + 1, 0.5, "now"] };
const columns: Partial<Record<keyof typeof row, { good: unknown[]; bad: unknown[] }>> = {
  id: { good: ["a"], bad: ["", null, 1] },
  email: { good: ["a@b"], bad: ["", "a", null, 1] },
  subject: { good: [null, "user_1"], bad: ["", 1] },
  plan: { good: ["hobby", "licensed"], bad: ["platinum", "", null] },
  assistant_limit: { good: [null, ...whole.good], bad: whole.bad },
  credit_thousandths: { good: [5, maxThousandths], bad: [null, 4, maxThousandths + 1, ...whole.bad] },
  held_thousandths: { good: [0, 5], bad: [null, 6, ...whole.bad] },
  created_at_ms: { good: instant.good, bad: [null, ...instant.bad] },
  trial_ends_at_ms: { good: [null, ...instant.good], bad: instant.bad },
  given_ends_at_ms: { good: [null], bad: [nowMs, ...instant.bad] },
};

describe.each(Object.entries(columns))("a row whose %s", (column, { good, bad }) => {
  const parse = (value: unknown) => parseAccount({ ...row, [column]: value }, nowMs);

  it.each(good)("is %j is an account", (value) => expect(parse(value)).toMatchObject({ [column]: value }));

  it.each(bad)("is %j is none", (value) => expect(parse(value)).toBeUndefined());
});

it("a trial has an end", () => {
  expect(parseAccount({ ...row, plan: "trial" }, nowMs)).toBeUndefined();
  expect(parseAccount({ ...row, plan: "trial", trial_ends_at_ms: nowMs }, nowMs)).toMatchObject({
    plan: "trial",
  });
});

it("a deletion at no instant is none", () => {
  for (const deletes_at_ms of instant.bad)
    expect(parseAccount({ ...row, deletes_at_ms }, nowMs)).toMatchObject({ deletes_at_ms: null });
});
