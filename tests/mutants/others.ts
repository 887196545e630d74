import type { Mistakes } from "@/tests/mutants/mutant";

/** Those of the next sixty, written down from `lib` and `app` alone, that no test noticed: bystanders, two at once, and others. */
export const others: Mistakes = {
  "tests/lib/office/office.test.ts": {
    "lib/accounts/leaving/leaving.ts": {
      "who asked for a deletion is read of whoever asked last, so another owner's or an operator's":
        '    .where("whom", "in", [email, id])\n',
    },
  },
  "tests/app/pages/credit-limits.test.ts": {
    "lib/accounts/credits/credit-watch.ts": {
      "a balance is compared with another owner's threshold": [
        'const limits = () => transaction.selectFrom("credit_limits").where("account_id", "=", account_id);',
        'const limits = () => transaction.selectFrom("credit_limits");',
      ],
    },
    "lib/accounts/credits/credit-limits.ts": {
      "a first limit counts what was spent in all months": '    .where("created_at_ms", ">=", month_ms)\n',
    },
  },
  "tests/app/pages/email-change.test.ts": {
    "lib/accounts/email-change.ts": {
      "a new request of an owner ends those of all others": [
        '    .set({ until_ms: nowMs })\n    .where("account_id", "=", accountId)\n',
        "    .set({ until_ms: nowMs })\n",
      ],
      "two buttons pressed at once each see the other as missing, and the email never changes": [
        "const change = await findEmailChange(transaction, id);",
        "const change = known;",
      ],
    },
  },
  "tests/app/bystanders.test.ts": {
    "lib/oauth/app-session.ts": {
      "keeping one app extends the refresh tokens of all": [
        'await extend("RefreshToken", oauthSeconds.refreshToken).where("grant_id", "=", grantId).execute();',
        'await extend("RefreshToken", oauthSeconds.refreshToken).execute();',
      ],
    },
    "lib/auth/sessions/session-start.ts": {
      "who signs in deletes other owners' ended apps from their pages": [
        '    .deleteFrom("local_sessions")\n    .where("account_id", "=", accountId)\n',
        '    .deleteFrom("local_sessions")\n',
      ],
    },
  },
  "tests/lib/mail/scheduled-mails.test.ts": {
    "lib/mail/kinds/apps.ts": {
      "the mail about ending apps has other owners' apps in it":
        '    .where("account_id", "=", mail.accountId)\n',
      "the first owner's mail uses up the mails of all who are due that day": [
        '      .set({ end_mail_at_ms: null })\n      .where("account_id", "=", accountId)\n',
        "      .set({ end_mail_at_ms: null })\n",
      ],
    },
    "lib/mail/kinds/licence.ts": {
      "who cancels in Stripe's trial is not told of the end": [
        '.where("status", "in", ["active", "trialing"])\n    .whereRef',
        '.where("status", "=", "active")\n    .whereRef',
      ],
    },
  },
  "tests/app/pages/billing.test.ts": {
    "lib/billing/customer/customer.ts": {
      "an owner gets the customer of another account that had this email": [
        "data.find(({ metadata }) => metadata.account === id) ??",
        "data.find(({ metadata }) => metadata.account) ??",
      ],
    },
  },
  "tests/lib/backend/credit-writes.test.ts": {
    "lib/accounts/credits/ledger.ts": {
      "holds of several accounts that expire at once free everybody's from each": [
        "const freed = holds.reduce((sum, { thousandths }) => sum + thousandths, 0);",
        "const freed = expired.reduce((sum, { thousandths }) => sum + thousandths, 0);",
      ],
    },
    "lib/backend/kept-answers.ts": {
      "a key that another instance uses at the same time writes twice": [
        "Number(numAffectedRows) === written.length",
        "Number(numAffectedRows) <= written.length",
      ],
      "two backends with the same key at once get one answer": ["{backend} $", '{""} $'],
    },
    "lib/backend/write-groups.ts": {
      "one request that the store cannot take fails all that share its transaction": [
        "if (isOnes) for (const one of taken) await execute(db, () => [one]);\n    else for",
        "for",
      ],
    },
    "lib/backend/credit-writes.ts": {
      "the same request twice in one group is written twice":
        "      kept.set(keyOf(request.backend, request.keyHash), row);\n",
    },
  },
  "tests/app/hooks/clerk-ends.test.ts": {
    "app/hooks/clerk/route.ts": {
      "a session that ends at Clerk ends what the owner started in their others": [
        "which: { clerk_session: id, ...which } },",
        "which },",
      ],
    },
  },
  "tests/app/two-at-once.test.ts": {
    "lib/billing/checkout.ts": {
      "of two tabs that buy at once one fails": [
        "    .onConflict((conflict) => conflict.doNothing())\n    .returningAll()",
        "    .returningAll()",
      ],
    },
    "lib/billing/customer/purchases.ts": {
      "the customer of the second of two requests replaces the first's": [
        '          .doUpdateSet({ customer_id: customerId })\n          .where("billing_customers.customer_id", "=", replaced),',
        "          .doUpdateSet({ customer_id: customerId }),",
      ],
    },
    "lib/billing/fulfilment/bought-credits.ts": {
      "a refund takes credits that are held": [
        "Math.min(due, spendable(account) + given);",
        "Math.min(due, account.credit_thousandths + given);",
      ],
    },
  },
  "tests/app/pages/automatic-purchase.test.ts": {
    "lib/billing/top-ups/top-up.ts": {
      "three owners whose pack Stripe no longer has hold up the purchases of all": [
        "top_up_due_ms: nowMs + putOffMs",
        "top_up_due_ms: 1",
      ],
      "two instances go on with one automatic purchase": [
        '.where("id", "in", openTopUps(db, nowMs).select("id").where("id", "=", id))',
        '.where("id", "=", id)',
      ],
    },
  },
  "tests/lib/events/delivery.test.ts": {
    "lib/events/delivery-runner.ts": {
      "a runner overwrites what an operator has just changed of a webhook":
        '        .where("version", "=", version)\n',
    },
  },
  "tests/lib/plans/plans.test.ts": {
    "lib/accounts/terms/plan-changes.ts": {
      "a retired plan that is saved again is retired anew": [
        "retired_at_ms: isOffered ? null : (known?.retired_at_ms ?? nowMs),",
        "retired_at_ms: isOffered ? null : nowMs,",
      ],
    },
  },
  "tests/lib/billing/bought-credits.test.ts": {
    "lib/billing/fulfilment/fulfilment.ts": {
      "credits with a coupon for all of it are never given": [
        'if (mode === "subscription" || payment_status !== "unpaid") return "fulfilled";',
        'if (mode === "subscription" || payment_status === "paid") return "fulfilled";',
      ],
    },
  },
  "tests/lib/events/events.test.ts": {
    "lib/events/event-sweep.ts": {
      "when old events go, all that waits for a receiver is given up": [
        '    .where("state", "=", "waiting")\n    .where("number", "<=", number)\n',
        '    .where("state", "=", "waiting")\n',
      ],
    },
  },
  "tests/lib/rate-limit/rate-limit.test.ts": {
    "lib/http/checks/limits.ts": {
      "a flood that overloads gets its requests back": [
        '(code === "unavailable" && status === 503 && reason !== "overloaded")',
        '(code === "unavailable" && status === 503)',
      ],
    },
  },
  "tests/lib/billing/recovery.test.ts": {
    "lib/billing/fulfilment/purchases-at-stripe.ts": {
      "what was sold during a round is never read": [
        "const recent = since(throughMs - overlapMs);",
        "const recent = since(throughMs);",
      ],
    },
  },
};
