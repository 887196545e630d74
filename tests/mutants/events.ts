import type { Mistakes } from "@/tests/mutants/mutant";

export const events: Mistakes = {
  "tests/lib/events/delivery.test.ts": {
    "lib/events/delivery-runner.ts": {
      "a round waits for every receiver": [
        "    this.start();\n  }\n\n  private async read",
        "    this.start();\n    await Promise.all(this.inWork.values());\n  }\n\n  private async read",
      ],
      "an account waits for the answer about another one": ["accountsAtOnce = 32", "accountsAtOnce = 1"],
      "an event is tried for ever": ["atMs - item.firstAtMs >= triedForMs", "false"],
      "a receiver is tried for ever": ["atMs - this.failingSinceMs >= triedForMs", "false"],
      "an answer after the end of the lease begins no end of tries": " || !this.maySend(nowMs)",
    },
    "lib/config/lifetimes.ts": {
      "three days are two": ["webhookTriedDays = 3", "webhookTriedDays = 2"],
      "three days are four": ["webhookTriedDays = 3", "webhookTriedDays = 4"],
    },
    "lib/events/delivery.ts": {
      "a lease never ends": [
        'row.or([row("lease_by", "=", leaseHolder()), row("lease_until_ms", "<=", nowMs)])',
        'row.or([row("lease_by", "=", leaseHolder()), row("lease_by", "is", null)])',
      ],
    },
  },
  "tests/lib/events/changed-plans.test.ts": {
    "lib/events/changed-plans.ts": {
      "a plan's change is told in one transaction": ["atOnce = 500", "atOnce = 5000"],
      "an account is told of a plan that it does not have": [
        " in (coalesce(given_plan, paid_plan, 'licensed'), paid_plan)",
        " is not null",
      ],
    },
  },
  "tests/lib/db/row-locks.test.ts": {
    "lib/events/changed-plans.ts": {
      "an account that is being given another plan is told of the former one's change": [
        ".where(hasPlan(plan)).forUpdate()",
        ".where(hasPlan(plan))",
      ],
    },
  },
  "tests/lib/accounts/erasure.test.ts": {
    "lib/accounts/leaving/erasure.ts": {
      "events tell of the anonymous account that an erasure leaves":
        '  await transaction.deleteFrom("events").where("account_id", "=", id).execute();\n',
    },
  },
};
