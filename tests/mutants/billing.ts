import type { Mistakes } from "@/tests/mutants/mutant";

export const billing: Mistakes = {
  "tests/app/pages/billing.test.ts": {
    "lib/billing/stripe/calls.ts": {
      "an attempt that is repeated makes a second checkout": "idempotencyKey: key, ",
    },
    "lib/billing/checkout.ts": {
      "another price leaves the earlier checkout open":
        'if (session?.status === "open") await endAtStripe(session.id);',
      "an account with a licence buys another one": [
        "if (!live.every(isReplaceable)) return undefined;",
        "if (live.length < 0) return undefined;",
      ],
      "any price at Stripe is for sale": ["if (!sold.includes(price_id))", "if (!sold.length)"],
      "a checkout that Stripe refused to make is tried again with its key":
        'await giveUp(db, checkout, "failed");',
      "a checkout that another request is making is given up":
        'if (failure.code === "idempotency_key_in_use") return undefined;',
    },
    "lib/billing/customer/customer.ts": {
      "the customer at Stripe outlives the account":
        "await removeAtStripe((stripe) => stripe.customers.del(customer_id));",
      "an email stays at Stripe of an account that was erased while it bought": [
        "if (kept !== usable) await",
        "if (!usable) await",
      ],
    },
    "app/(pages)/home/checkout/return/route.ts": {
      "anyone who repeats a return makes us call Stripe each time": [
        " && (await returns.consume(id)).allowed",
        " && id",
      ],
    },
    "app/hooks/clerk/route.ts": {
      "Stripe goes on charging a user who was deleted at Clerk":
        '    await deleteCustomer(await store(), "subject", id, nowMs);\n',
    },
  },
  "tests/app/pages/licence-states.test.ts": {
    "lib/billing/licence/unpaid-change.ts": {
      "an upgrade that was not paid is given": [
        '({ billing_reason }: Stripe.Invoice) => billing_reason === "subscription_update"',
        "(_: Stripe.Invoice) => false",
      ],
    },
    "lib/billing/prices/licence-prices.ts": {
      "a price that is no longer sold stops its payers": [
        "prices.find((price) => price.id === id)?.plan",
        "prices.find((price) => price.id === id && price.isSold)?.plan",
      ],
    },
    "lib/billing/licence/licence-end.ts": {
      "an invoice by mail is overdue when it is sent": ["!(dueMs && dueMs <= nowMs)", "!dueMs"],
    },
    "lib/billing/licence/subscription.ts": {
      "a payment that was finished meanwhile is ended":
        '  if (first?.status === "open") await callStripe((stripe) => stripe.invoices.voidInvoice(first.id));\n',
    },
  },
  "tests/app/hooks/stripe.test.ts": {
    "lib/billing/stripe/delivery.ts": {
      "a delivery may be of any age": ["if (isSigned(toleranceSeconds))", "if (isSigned(1e9))"],
    },
    "lib/billing/fulfilment/fulfilment.ts": {
      "a checkout that a bank has not paid yet gives its credits": [
        'mode === "subscription" || payment_status !== "unpaid"',
        'mode === "subscription" || payment_status !== "none"',
      ],
    },
    "lib/billing/fulfilment/bought-credits.ts": {
      "a repeated event gives credits again": [
        'const isNew = state !== known.state && state === "fulfilled";',
        'const isNew = state === "fulfilled";',
      ],
      "deliveries that run at once each give the credits": [
        'if (!isSame) return "outdated";',
        "void isSame;",
      ],
      "a refund takes back more credits than are left": ["Math.min(due, spendable(account) + given)", "due"],
      "a refund is taken back at every event": [
        "const due = refunded - known.refunded_thousandths;",
        "const due = refunded;",
      ],
    },
    "lib/billing/customer/customer.ts": {
      "a purchase is fulfilled by the account that its metadata names": [
        "    known ??\n    (await accounts",
        "    (await accounts",
      ],
    },
    "lib/billing/licence/subscription.ts": {
      "an older reading of a subscription replaces a newer one":
        'if ((current?.version ?? 0) !== (known?.version ?? 0)) return "outdated";',
    },
    "lib/billing/licence/licence-end.ts": {
      "a licence ends at its first failed payment": [
        "unpaidSinceMs + (isGivenUp ? 0 : graceMs())",
        "unpaidSinceMs",
      ],
      "each period that begins unpaid extends a licence": [
        "known?.unpaid_since_ms ?? (firstUnpaid ? firstUnpaid * 1000 : startMs)",
        "startMs",
      ],
    },
    "lib/billing/prices/licence-prices.ts": {
      "two of a licence give the assistants of one": ["all + limit * quantity", "all + limit"],
    },
    "lib/billing/stripe/payments.ts": {
      "a refunded period is licensed": ["isReturned: isAnyPaid && isAllReturned", "isReturned: false"],
    },
    "lib/plans/terms.ts": {
      "a trial loses the rest of its days to a licence": [
        "trial_ends_at_ms: customer.trial_ends_before_ms",
        "trial_ends_at_ms: 0",
      ],
    },
    "lib/accounts/terms/effective-terms.ts": {
      "the limit of assistants stays after the licence that gave it": [
        "limit_before: paid ? given.assistant_limit : null,",
        "limit_before: paid ? paid.limit : null,",
      ],
    },
    "lib/billing/reconciler.ts": {
      "a bank's payment is forgotten": [
        '.where("state", "in", ["open", "unpaid"])',
        '.where("state", "in", ["open"])',
      ],
      "a subscription is not read again once a day": [
        'eb("last_event_at_ms", "<=", nowMs - readAgainAfterMs),',
        'eb("last_event_at_ms", "<=", 0),',
      ],
    },
  },
  "tests/lib/admin/billing.test.ts": {
    "lib/billing/reconciler.ts": {
      "a round goes on while Stripe is away": ["missed < maxMissed && ", ""],
    },
  },
  "tests/lib/mail/scheduled-mails.test.ts": {
    "lib/mail/kinds/licence.ts": {
      "an owner who took the cancellation back reads that the licence ends":
        '    .where("ends_at_ms", "=", mail.endsAtMs)\n',
    },
  },
  "tests/app/pages/licence-end.test.ts": {
    "lib/mail/kinds/licence.ts": {
      "a cancelled licence is announced every minute": [
        "ending_mail_ms: sql<number>`ends_at_ms`",
        "ending_mail_ms: null",
      ],
      "an owner with another licence reads that it ended": 'if (plan === "licensed") return undefined;',
    },
    "lib/plans/licence-state.ts": {
      "a trial that ended after a licence is said to be that licence": "atMs <= trialEndsAtMs || ",
    },
  },
};
