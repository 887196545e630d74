import type { Mistakes } from "@/tests/mutants/mutant";

/** Sixty more, written down from `lib` and `app` alone on 30 November 2026: most about bystanders and two at once. */
export const neighbours: Mistakes = {
  "tests/lib/backend/credit-writes.test.ts": {
    "lib/backend/credit-writes.ts": {
      "the kept answer to a batch goes with its first account, and then all the others are charged again": [
        "const [only = null] = accounts.size === 1 ? accounts : [];",
        "const [only = null] = accounts;",
      ],
    },
  },
  "tests/app/lifetimes.test.ts": {
    "lib/oauth/app-session.ts": {
      "apps that ended for lack of use come back to life when their owner keeps the others": [
        '      .where("expires_at_ms", ">", nowMs)\n      .where("ended_as", "is", null)\n',
        '      .where("ended_as", "is", null)\n',
      ],
    },
  },
  "tests/app/pages/licence-end.test.ts": {
    "lib/mail/kinds/licence.ts": {
      "the mail about a failed payment promises another try at a time that has passed": [
        "const triedAtMs = (next_attempt_ms ?? 0) > nowMs ? next_attempt_ms : null;",
        "const triedAtMs = next_attempt_ms;",
      ],
    },
  },
  "tests/lib/accounts/erasure.test.ts": {
    "lib/accounts/email-change.ts": {
      "a former email that another account holds by now counts as this owner's still, so erasing the one erases the stranger who has that address, and the audit trail shows the stranger's changes":
        [
          '      not(exists(selectFrom("accounts as holder").select("id").whereRef("holder.email", "=", "from_email"))),\n',
          '      not(\n        exists(\n          selectFrom("accounts as holder")\n            .select("id")\n            .whereRef("holder.id", "=", "account_id")\n            .whereRef("holder.email", "=", "from_email"),\n        ),\n      ),\n',
        ],
    },
    "lib/accounts/leaving/person.ts": {
      "the download of a person contains the requests of other owners who once named that address, with those owners' emails":
        [
          '    .where("account_id", "=", accountId)\n    .orderBy("asked_at_ms")',
          '    .where(({ or, eb, selectFrom }) =>\n      or([\n        eb("account_id", "=", accountId),\n        eb("to_email", "=", selectFrom("accounts").select("email").where("id", "=", accountId)),\n      ]),\n    )\n    .orderBy("asked_at_ms")',
        ],
    },
    "lib/db/redaction.ts": {
      "erasing ann@example.com also rewrites mary-ann@example.com, another person, in the audit, names and reasons":
        ['const noAddressBefore = "(?<![\\\\w.+%\'-])";', 'const noAddressBefore = "(?<![\\\\w.+%\'])";'],
    },
  },
  "tests/app/pages/waitlist.test.ts": {
    "lib/accounts/joining/waitlist.ts": {
      "anyone who types someone else's email into the waitlist moves that person to its end": [
        'conflict.column("email").doUpdateSet({ mailbox_hash })',
        'conflict.column("email").doUpdateSet({ mailbox_hash, joined_at_ms: nowMs })',
      ],
    },
  },
  "tests/lib/auth/codes/sign-in-code.test.ts": {
    "lib/auth/codes/sign-in-code.ts": {
      "a code typed for one email counts as a wrong try for a code that another person requested in the same browser, whose own code is used up, or signs in to their account":
        "      if (other?.email !== row?.email) continue;\n",
    },
  },
  "tests/lib/billing/sold-elsewhere.test.ts": {
    "lib/billing/customer/customer.ts": {
      "erasing an owner deletes a Stripe customer that another service made, with the subscriptions that they have there":
        [
          "const isOurs = customer && !customer.deleted && customer.metadata.account;",
          "const isOurs = customer && !customer.deleted;",
        ],
    },
  },
  "tests/app/pages/billing.test.ts": {
    "lib/billing/fulfilment/purchases-at-stripe.ts": {
      "a customer that Stripe has for another account with the same email becomes this account's: its portal, cards and charges are then the other one's":
        [
          "if (metadata.account === buyer.id) await keepCustomer(",
          "if (metadata.account) await keepCustomer(",
        ],
    },
  },
  "tests/lib/oauth/adapter.test.ts": {
    "lib/oauth/approval.ts": {
      "the twenty requests that are kept for one owner are counted for all, so once others have opened twenty, a flood evicts the request that this owner is reading":
        [
          'const seen = eb.selectFrom("connect_state").where("grant_id", "=", seenBy);',
          'const seen = eb.selectFrom("connect_state").where("grant_id", "like", "seen by %");',
        ],
    },
    "lib/oauth/adapter.ts": {
      "two answers to one request both count, so what the owner has declined is approved by another tab, or another account takes over an approval":
        '      .where("payload", "=", JSON.stringify(before))\n',
    },
  },
  "tests/app/connect-parallel.test.ts": {
    "lib/oauth/exchange-limit.ts": {
      "all owners of one popular app share one limit of renewals, so a few busy ones lock out the apps of all others":
        ["isNew && live.credential.grantId", "isNew && live.credential.clientId"],
    },
  },
  "tests/lib/events/webhooks.test.ts": {
    "lib/events/webhooks.ts": {
      "sending again to one receiver deletes what still waits for all other receivers, who never get it": [
        '    await transaction\n      .deleteFrom("webhook_deliveries")\n      .where("webhook_id", "=", id)\n      .where("number", ">=", before.first)\n      .execute();',
        '    await transaction.deleteFrom("webhook_deliveries").where("number", ">=", before.first).execute();',
      ],
    },
  },
  "tests/lib/events/events.test.ts": {
    "lib/events/event-sweep.ts": {
      "accounts that live on are numbered from 1 again once old events go, so the company's systems drop their new events as seen":
        [
          'const gone = old.filter(({ type }) => type === "account.deleted").map(({ account_id }) => account_id);',
          "const gone = old.map(({ account_id }) => account_id);",
        ],
    },
  },
  "tests/lib/rate-limit/client-address.test.ts": {
    "lib/rate-limit/client-address.ts": {
      "all further phones of a mobile carrier's /48 are one client, so one that asks for much shuts out all others":
        ['return hashAddress(groupAddress(client.replace("/64", ""), 56));', "return hashAddress(network);"],
    },
  },
  "tests/lib/oauth/sweep.test.ts": {
    "lib/db/old-rows.ts": {
      "the ceiling of pending requests counts the tokens and grants of all connected apps too, so in a busy service every request that waits for its owner is swept away":
        [
          'const newestFirst = select(db, old).select(column).orderBy(column, "desc");',
          'const newestFirst = untyped(db).selectFrom(old.table).select(column).orderBy(column, "desc");',
        ],
    },
  },
  "tests/lib/mcp/tool-call.test.ts": {
    "lib/mcp/protocol-version.ts": {
      "a client whose call has wrong or missing routing headers is judged by what another client sent before, and a correct one is then answered by the other's fault":
        [
          '  const values = (["mcp-protocol-version", "mcp-method", "mcp-name"] as const).map((header) =>\n    headers.get(header),\n  );\n  const key = JSON.stringify([name, meta, typeof traceparent, values]);',
          '  const key = JSON.stringify([name, meta, typeof traceparent, headers.get("mcp-protocol-version")]);',
        ],
    },
  },
  "tests/lib/status/outages.test.ts": {
    "lib/status/outages.ts": {
      "parts that went out in the same round share a start, so the outage of one that works again is prolonged, or that of one that is still out is ended, on the status page":
        [
          '      .where("part", "=", part)\n      .where("started_at_ms", "=", newest.started_at_ms)',
          '      .where("started_at_ms", "=", newest.started_at_ms)',
        ],
    },
  },
  "tests/app/connect-fooled.test.ts": {
    "app/(pages)/connect/forms.ts": {
      "who signed in to another account in another tab connects the app to that account, and not to the one that the page showed":
        ['await requireOwner(submission, field("account")).catch', "await requireOwner(submission).catch"],
    },
  },
  "tests/lib/db/row-locks.test.ts": {
    "lib/accounts/credits/plan-credits.ts": {
      "two instances that give what is due at once both read the month as not given, and the account gets its credits twice":
        [
          'accountBy(transaction, "id", accountId).selectAll().forUpdate().executeTakeFirst();',
          'accountBy(transaction, "id", accountId).selectAll().executeTakeFirst();',
        ],
    },
    "lib/billing/licence/subscription.ts": {
      "a licence whose renewal is stored between the list and its turn is ended although it was paid": [
        '        .where("id", "=", subscription)\n        .where("licence_until_ms", "<=", nowMs)\n',
        '        .where("id", "=", subscription)\n',
      ],
    },
  },
  "tests/lib/auth/keys/key-ring.test.ts": {
    "lib/auth/keys/key-ring.ts": {
      "an earlier reading that answers late replaces a newer one, so a revoked signing key verifies tokens again":
        [
          "    const place = ++this.begun;\n    const reading = this.open().then(readSigningKeys);\n    return withTimeout(answersWithinMs.store, reading).then((rows) => {\n",
          "    const reading = this.open().then(readSigningKeys);\n    return withTimeout(answersWithinMs.store, reading).then((rows) => {\n      const place = ++this.begun;\n",
        ],
    },
  },
  "tests/lib/events/delivery.test.ts": {
    "lib/events/delivery-runner.ts": {
      "what receivers answered while the outcomes were being written is forgotten, so those events are sent again or never noted":
        ["this.settled = this.settled.slice(settled.length);", "this.settled = [];"],
    },
  },
  "tests/lib/server/requests-in-work.test.ts": {
    "lib/server/requests-in-work.ts": {
      "the count that was read at the beginning replaces the present one, so requests that overlap make a network's count stay too high, until it is refused, or too low":
        ["const left = (inWork.get(network) ?? 1) - 1;", "const left = count;"],
    },
  },
  "tests/app/hooks/stripe.test.ts": {
    "lib/admin/account.ts": {
      "once the account is gone its customer is not found any more, so the subscription of a deleted account goes on being charged":
        [
          '    await deleteCustomer(db, "email", email, nowMs);\n    await deleteAccount(db, email, by, nowMs);',
          '    await deleteAccount(db, email, by, nowMs);\n    await deleteCustomer(db, "email", email, nowMs);',
        ],
    },
  },
  "tests/lib/background/tasks.test.ts": {
    "lib/background/tasks.ts": {
      "calls of the scheduler that overlap each run all work, and two rounds of reconciliation and mail compete in one process":
        ["round.running ??= inBackground(", "round.running = inBackground("],
    },
  },
  "tests/app/pages/passkeys-attacks.test.ts": {
    "lib/accounts/require-owner.ts": {
      "who has copied the secret before the owner's confirmation can use that confirmation for a minute, and add a passkey":
        [
          "if (!session || session.formerUntilMs !== undefined) return undefined;",
          "if (!session) return undefined;",
        ],
    },
  },
  "tests/app/pages/licence-change.test.ts": {
    "lib/accounts/terms/effective-terms.ts": {
      "an owner who pays for two licences gets the lesser plan": [
        "order.indexOf(other) - order.indexOf(one)",
        "order.indexOf(one) - order.indexOf(other)",
      ],
    },
  },
  "tests/app/pages/credit-limits.test.ts": {
    "lib/backend/credit-rules.ts": {
      "giving back a spend of last month frees room in this month's limit, so backends spend more than the owner allowed":
        ["this.count(account, -given, spent.created_at_ms);", "this.count(account, -given);"],
    },
  },
  "tests/lib/backend/api.test.ts": {
    "lib/backend/backends.ts": {
      "after a rotation three keys are valid, and the leaked one that two rotations should have ended still signs":
        ["keys.slice(maxKeys - 1);", "keys.slice(maxKeys);"],
    },
    "lib/http/response.ts": {
      "refusals and failures, which are no-store, carry no X-Request-Id, so no one can report or find them": [
        'if (!caching.startsWith("public")) fields',
        'if (caching.startsWith("private")) fields',
      ],
    },
  },
  "tests/app/pages/licence-states.test.ts": {
    "lib/billing/licence/licence-end.ts": {
      "of several open invoices by mail the latest date counts, so a licence goes on although an older invoice is long overdue":
        ["Math.min(...dates) * 1000", "Math.max(...dates) * 1000"],
    },
  },
  "tests/lib/oauth/token-rotation.test.ts": {
    "lib/oauth/token-rotation.ts": {
      "a token may be used again for 60 milliseconds and not a minute, so agents with several processes are disconnected as if copied":
        [">= oauthSeconds.refreshTokenReuse * 1000;", ">= oauthSeconds.refreshTokenReuse;"],
    },
  },
  "tests/lib/plans/gift-ends.test.ts": {
    "lib/plans/entitlement.ts": {
      "apps of a licence with an end are told to ask again up to fifteen minutes after it, and run on without one":
        [
          "status: account.plan, ...until(changesMs) }",
          "status: account.plan, ...until(Number.POSITIVE_INFINITY) }",
        ],
    },
  },
  "tests/app/pages/amounts.test.ts": {
    "app/(pages)/home/billing/offers.ts": {
      "packs are shown in another currency than that in which Stripe charges this customer": [
        'readOffers(creditPrices, { plans, currency, fallbackName: "Credits" }, nowMs)',
        'readOffers(creditPrices, { plans, fallbackName: "Credits" }, nowMs)',
      ],
    },
  },
  "tests/lib/config/money.test.ts": {
    "lib/config/money.ts": {
      "amounts under one unit are written .05, which spreadsheets and finance systems refuse or read as text":
        ['padStart(decimals + 1, "0")', 'padStart(decimals, "0")'],
    },
  },
};
