import type { Mistakes } from "@/tests/mutants/mutant";

/** Those of a reader's sixty that no test noticed: most of them are about someone else, or about two at once. */
export const bystanders: Mistakes = {
  "tests/lib/events/webhooks.test.ts": {
    "lib/events/webhooks.ts": {
      "what is sent again to one webhook is lost for the others": [
        '      .where("webhook_id", "=", id)\n      .where("number", ">=", before.first)\n',
        '      .where("number", ">=", before.first)\n',
      ],
    },
  },
  "tests/lib/backend/api.test.ts": {
    "lib/backend/kept-answers.ts": {
      "a key that another backend has used has its answer": '    .where("backend_id", "=", backend)\n',
    },
  },
  "tests/app/pages/invoices.test.ts": {
    "lib/billing/customer/invoices.ts": {
      "two customers who were read in one round share their invoices": ["customerId} $", "0} $"],
    },
  },
  "tests/app/two-at-once.test.ts": {
    "lib/billing/licence/subscription.ts": {
      "a reading that was overtaken brings a licence back": [
        "(current?.version ?? 0) !== (known?.version ?? 0)",
        "(current?.version ?? 0) < (known?.version ?? 0)",
      ],
    },
    "lib/billing/leavers.ts": {
      "an older list of leavers erases who stays": [
        'dueLeavers(db, nowMs).where("id", "=", id)',
        'db.selectFrom("accounts").select(["id", "email"]).where("id", "=", id)',
      ],
    },
  },
  "tests/lib/mail/outboxes.test.ts": {
    "lib/mail/outbox/outbox.ts": {
      "a late runner deletes a mail that another one has": [
        'db.deleteFrom("sign_in_mails").where("id", "=", id).where("next_attempt_at_ms", "=", leaseUntilMs),',
        'db.deleteFrom("sign_in_mails").where("id", "=", id),',
      ],
    },
  },
  "tests/lib/server/connections.test.ts": {
    "lib/server/requests-in-work.ts": {
      "requests that overlap are counted for ever": [
        "const left = (inWork.get(network) ?? 1) - 1;",
        "const left = count;",
      ],
    },
  },
  "tests/lib/admin/billing.test.ts": {
    "lib/admin/person.ts": {
      "an erased person goes on being charged": '      await deleteCustomer(db, "email", email, nowMs);\n',
    },
  },
  "tests/lib/admin/confirmation.test.ts": {
    "lib/admin/credits.ts": {
      "credits are added twice within the hour unasked": ["60 * 60_000", "60 * 1000"],
    },
  },
  "tests/app/hooks/cron.test.ts": {
    "lib/background/tasks.ts": {
      "the scheduler is told that all is done": "        hasFailed = true;\n",
    },
  },
};
