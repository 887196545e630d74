import type { Mistakes } from "@/tests/mutants/mutant";

/** Those of a third sixty of 30 November 2026 that no earlier list has: most about bystanders and two at once. */
export const rivals: Mistakes = {
  "tests/lib/office/office.test.ts": {
    "lib/accounts/accounts.ts": {
      "the entry does not get the id of the form, so an operator's form that is sent twice gives the owner the credits twice":
        [
          "const entry = { account_id: account.id, thousandths, reason, ...(id && { id }) };",
          "const entry = { account_id: account.id, thousandths, reason };",
        ],
    },
  },
  "tests/lib/accounts/caller.test.ts": {
    "lib/accounts/caller.ts": {
      "of reads that come together, the answers after one without an account go to the wrong request: an app gets another owner's account":
        [
          "for (const row of rows) together[row.place]?.resolve(row);",
          "for (const [at, row] of rows.entries()) together[at]?.resolve(row);",
        ],
    },
  },
  "tests/app/pages/email-change.test.ts": {
    "lib/accounts/email-change.ts": {
      "only the requests of the same account are counted, so several accounts can have any number of mails sent to a stranger's mailbox":
        [
          '.where(({ or, eb }) => or([eb("account_id", "=", account_id), eb("mailbox_hash", "=", mailbox_hash)]))',
          '.where("account_id", "=", account_id)',
        ],
    },
  },
  "tests/app/hooks/clerk.test.ts": {
    "lib/accounts/clerk-user.ts": {
      "a late delivery of an older state of a user at Clerk moves the account back to its former email": [
        "updatedAtMs > user.updated_at_ms || (updatedAtMs === user.updated_at_ms && email !== user.email);",
        "updatedAtMs !== user.updated_at_ms || email !== user.email;",
      ],
    },
  },
  "tests/lib/auth/codes/sign-in-code.test.ts": {
    "lib/auth/codes/sign-in-code-limits.ts": {
      "the daily allowance of short codes counts everyone's codes, so a few sign-ins of others leave an owner with long codes only":
        [
          '    .where("email", "=", email)\n    .where("share", "in", ["known", "stranger"])',
          '    .where("share", "in", ["known", "stranger"])',
        ],
    },
    "lib/auth/codes/sign-in-code.ts": {
      "a code can still be redeemed by a sixth attempt after five wrong ones": [
        'if (row.tries >= maxTries) return { ended: "tries" };',
        'if (row.tries > maxTries) return { ended: "tries" };',
      ],
    },
  },
  "tests/app/pages/passkeys-attacks.test.ts": {
    "lib/auth/sessions/owner-confirmation.ts": {
      "the secret before a confirmation renews for 60 ms instead of a minute, so another tab, or a browser whose answer was lost, is signed out":
        ["former_until_ms: nowMs + formerSecretMs,", "former_until_ms: nowMs + formerSecretMs / 1000,"],
    },
    "lib/auth/passkeys/passkey-exchange.ts": {
      "a challenge that was used counts as unused, so a copied response of a passkey signs in a second time":
        [
          '.onConflict((conflict) => conflict.column("challenge").doNothing())',
          '.onConflict((conflict) =>\n        conflict.column("challenge").doUpdateSet({ expires_at_ms: nowMs + ceremonyMs }),\n      )',
        ],
    },
    "lib/accounts/own-passkeys.ts": {
      "a passkey that was begun for one account lands in the account of whoever has signed in to the browser meanwhile":
        ["{account.id}`;", "{0}`;"],
    },
  },
  "tests/lib/auth/keys/key-ring.test.ts": {
    "lib/auth/keys/key-ring.ts": {
      "a slow earlier reading of the keys replaces a newer one, so a revoked key verifies and signs again in that process":
        ["      if (place < this.kept) return;\n", ""],
    },
  },
  "tests/app/connect-refresh.test.ts": {
    "lib/oauth/app-session.ts": {
      "the owner gets no mail about a replayed app, because its session has ended before it is looked up": [
        '    if (what === "app replay") await warnOwner(transaction, id, "replayed app", nowMs);\n    await endSession(transaction, { by: "app", what }, id, nowMs);',
        '    await endSession(transaction, { by: "app", what }, id, nowMs);\n    if (what === "app replay") await warnOwner(transaction, id, "replayed app", nowMs);',
      ],
    },
  },
  "tests/app/acts.test.ts": {
    "lib/oauth/approval.ts": {
      "of two approvals at once the second counts as first too: it keeps an approval and a grant for a request that another answer has settled":
        [
          'if (!(await state.amend(transaction, key, id, stored, answer))) return "late";',
          "await state.amend(transaction, key, id, stored, answer);",
        ],
      "a double click lets an app in twice": [
        'if (outcome !== "approved") await',
        'if (outcome === "signed out") await',
      ],
    },
    "lib/billing/checkout.ts": {
      "when one owner asks to be deleted, and in each round, the open checkouts of all accounts are ended at Stripe while their owners pay":
        [
          '    .where("state", "=", "open")\n    .where("deletes_at_ms", "is not", null)\n',
          '    .where("state", "=", "open")\n',
        ],
    },
    "lib/accounts/terms/plan-changes.ts": {
      "changing the prices of one plan withdraws the prices of all other plans from sale": [
        '    .where("plan", "=", plan)\n    .where("withdrawn_at_ms", "is", null)',
        '    .where("withdrawn_at_ms", "is", null)',
      ],
    },
  },
  "tests/app/two-at-once.test.ts": {
    "lib/oauth/approval.ts": {
      "an approval that is pressed while an operator ends all sessions goes on without its browser": [
        'if (email === undefined || !isCurrent) return "signed out";',
        'if (email === undefined) return "signed out";',
      ],
    },
    "lib/billing/fulfilment/bought-credits.ts": {
      "two events about one refund that are processed at once take the credits back twice": [
        "current?.state === known.state && current.refunded_thousandths === known.refunded_thousandths;",
        "current?.state === known.state;",
      ],
    },
    "lib/billing/leavers.ts": {
      "the address of a leaver that has passed to another account while earlier ones were erased is erased with that account":
        [
          '  for (const { id } of leavers) {\n    try {\n      // Read again: while others were erased, the address may have passed to another account.\n      const leaver = await dueLeavers(db, nowMs).where("id", "=", id).executeTakeFirst();\n      if (!leaver) continue;\n',
          "  for (const leaver of leavers) {\n    const { id } = leaver;\n    try {\n",
        ],
    },
  },
  "tests/app/pages/credit-limits.test.ts": {
    "lib/accounts/credits/credit-limits.ts": {
      "an owner's first monthly limit counts what all accounts have spent this month, so their backends are refused":
        [
          '    .where("account_id", "=", accountId)\n    .where("backend_id", "is not", null)',
          '    .where("backend_id", "is not", null)',
        ],
    },
  },
  "tests/lib/backend/credit-writes.test.ts": {
    "lib/backend/credit-writes.ts": {
      "a write with a key that another write has used is answered with that write's answer as if it were done, and is not done":
        [
          'if (known) return known.body_digest === request.digest ? known : { refusal: new Refusal("key_reused") };',
          "if (known) return known;",
        ],
    },
    "lib/backend/write-groups.ts": {
      "a request that the store cannot take fails the writes of other backends that share its transaction": [
        "const isOnes = taken.length > 1 && !(failure instanceof StoreOutage);",
        "const isOnes = taken.length > 1 && failure instanceof StoreOutage;",
      ],
    },
  },
  "tests/lib/backend/write-queue.test.ts": {
    "lib/backend/write-queue.ts": {
      "a backend that fills the queue has the first writes of the other backends refused with 429": [
        "if (this.writes >= this.most && line.writes >= this.most / this.lines.size) return false;",
        "if (this.writes >= this.most) return false;",
      ],
    },
  },
  "tests/lib/events/receiver.test.ts": {
    "lib/events/receiver.ts": {
      "a receiver that answers with a redirect counts as having accepted the event, which is lost": [
        "status !== null && status < 300;",
        "status !== null && status < 400;",
      ],
    },
  },
  "tests/lib/events/delivery.test.ts": {
    "lib/events/delivery-runner.ts": {
      "the noted position passes an event that is still being sent, so a process that is killed then never delivers it":
        ["...open.map(({ number }) => number - 1));", "...open.map(({ number }) => number));"],
    },
  },
  "tests/lib/plans/gift-ends.test.ts": {
    "lib/accounts/terms/gift-ends.ts": {
      "one account whose end cannot be stored keeps the ends of the others, and the events about trials and holds behind them, from being told":
        ["if (isOutage(failure)) throw failure;", "if (!isOutage(failure)) throw failure;"],
    },
  },
  "tests/lib/plans/entitlement.test.ts": {
    "lib/plans/entitlement.ts": {
      "an app near the end of a trial or a gift is told to ask again long after that end, and lets the assistants go on":
        ["Math.floor((endMs - nowMs) / 1000)", "Math.floor(endMs - nowMs)"],
    },
  },
  "tests/lib/mail/outboxes.test.ts": {
    "lib/mail/kind.ts": {
      "a mail to an owner whose account is gone goes to whoever has changed their email last": [
        '      .where("from_email", "=", mail.to)\n      .where("changed_at_ms", "is not", null)',
        '      .where("changed_at_ms", "is not", null)',
      ],
    },
    "lib/mail/outbox/outboxes.ts": {
      "a mail that was on its way while its reader was erased leaves the erased address in the attempts again":
        ["const sinceMs = claimed.leaseUntilMs - leaseMs;", "const sinceMs = claimed.leaseUntilMs;"],
    },
  },
  "tests/app/pages/waitlist.test.ts": {
    "lib/mail/waitlist-confirmation.ts": {
      "a stranger floods someone's mailbox with confirmations of the waitlist by other spellings of the address":
        [
          "if (!isAgain && ofMailbox.some((row) => (row.confirmation_mailed_at_ms ?? 0) > sinceMs)) return false;",
          "if (!isAgain && (waiting.confirmation_mailed_at_ms ?? 0) > sinceMs) return false;",
        ],
    },
  },
  "tests/lib/accounts/erasure.test.ts": {
    "lib/accounts/email-change.ts": {
      "the erasure of a person erases the account of someone else who has the person's former email now": [
        '    .where(({ not, exists, selectFrom }) =>\n      not(exists(selectFrom("accounts as holder").select("id").whereRef("holder.email", "=", "from_email"))),\n    )\n    .groupBy("from_email")',
        '    .groupBy("from_email")',
      ],
    },
  },
  "tests/lib/billing/sold-elsewhere.test.ts": {
    "lib/accounts/leaving/person.ts": {
      "each owner's export has the unclaimed purchases of all other people": [
        'db.selectFrom("billing_unclaimed").selectAll().where("email", "=", email).execute();',
        'db.selectFrom("billing_unclaimed").selectAll().execute();',
      ],
    },
  },
  "tests/lib/db/redaction.test.ts": {
    "lib/db/redaction.ts": {
      "the erasure of one address also replaces it within a longer one of another person, such as one that goes on with .uk, in the audit and the ledger":
        ['const noAddressAfter = "(?!\\\\.?[\\\\w-])";', 'const noAddressAfter = "(?![\\\\w-])";'],
    },
  },
  "tests/lib/office/attacks.test.ts": {
    "lib/office/passkey.ts": {
      "the passkey of any operator proves the session of another, in whose name the act is then done": [
        '  const { id, name } = passkey;\n  if (session && id !== session.operator.id) throw new CeremonyError("the passkey is of another operator");\n',
        "  const { name } = passkey;\n",
      ],
    },
  },
  "tests/lib/admin/confirmation.test.ts": {
    "lib/admin/credits.ts": {
      "a command that is repeated because its answer was lost gives the credits twice without asking": [
        "const newForMs = once ? undefined : asksAgainWithinMs;",
        "const newForMs = once ? asksAgainWithinMs : undefined;",
      ],
    },
  },
  "tests/lib/admin/billing.test.ts": {
    "lib/admin/person.ts": {
      "after the erasure the customer is not found any more, so Stripe keeps the person and goes on charging them":
        [
          '      await deleteCustomer(db, "email", email, nowMs);\n      await erasePerson(db, email, by, nowMs);',
          '      await erasePerson(db, email, by, nowMs);\n      await deleteCustomer(db, "email", email, nowMs);',
        ],
    },
  },
  "tests/lib/rate-limit/hosted-agents.test.ts": {
    "lib/mcp/handler.ts": {
      "the owners of agents behind one hosted address share one quota of MCP, so one of them shuts the others out":
        [
          "const quotaKey = (call: Call) => (call.client.isHosted ? accountKey(call) : undefined);",
          "const quotaKey = (call: Call) => (call.client.isHosted ? undefined : accountKey(call));",
        ],
    },
  },
  "tests/lib/rate-limit/rate-limit.test.ts": {
    "lib/rate-limit/rate-limit.ts": {
      "all clients of a network, and all browsers of an account, share the limit of one client: a neighbour's forms use it up":
        ['...share("client", "", perClient, client),', '...share("client", "", perClient, network),'],
    },
  },
  "tests/lib/rate-limit/client-address.test.ts": {
    "lib/rate-limit/client-address.ts": {
      "a client chooses its own address by a forged X-Forwarded-For, and so spends the limits of another or none":
        [
          'headers.get("x-forwarded-for")?.split(",").at(-trustedProxyHops);',
          'headers.get("x-forwarded-for")?.split(",").at(trustedProxyHops - 1);',
        ],
    },
  },
  "tests/lib/server/page-cache.test.ts": {
    "lib/server/page-cache.ts": {
      "what one visitor's cookies chose, the look, a dismissed notice or the link of who is signed in, is served to all others":
        ["{variant.cookie}\\n$", "{0}\\n$"],
    },
  },
  "tests/lib/db/row-locks.test.ts": {
    "lib/db/migrate.ts": {
      "two instances that start at once apply the same migration on PostgreSQL, and one of them fails": [
        "if (!(await row.forUpdate().skipLocked().executeTakeFirst()))",
        "if (!(await row.executeTakeFirst()))",
      ],
    },
  },
  "tests/lib/db/backup-copy.test.ts": {
    "lib/db/backup-copy.ts": {
      "a backup while something else reads from the log lacks committed writes, or is not consistent": [
        "if (!written.busy && written.log === written.checkpointed) return;",
        "if (!written.busy) return;",
      ],
    },
  },
  "tests/lib/db/unique.test.ts": {
    "lib/db/schema.ts": {
      "two tabs at once open two checkouts of one kind, and an owner can pay for both": [
        "create unique index billing_checkouts_open on",
        "create index billing_checkouts_open on",
      ],
    },
  },
  "tests/lib/config/money.test.ts": {
    "lib/config/money.ts": {
      "amounts in yen are shown and exported as a hundredth of what is paid": [
        "bif clp djf gnf jpy kmf",
        "bif clp djf gnf kmf",
      ],
    },
  },
  "tests/lib/status/outages.test.ts": {
    "lib/status/outages.ts": {
      "an instance that writes later what it saw earlier sets the outage back that another instance still sees, so it ends too early on the status page":
        [
          "const seen_at_ms = isSame ? Math.max(seenAtMs, newest.seen_at_ms) : seenAtMs;",
          "const seen_at_ms = seenAtMs;",
        ],
    },
  },
  "tests/lib/docs/search.test.ts": {
    "lib/docs/search.ts": {
      "a search of several words, of which no section has one, finds nothing for readers and agents": [
        '{ combineWith: "OR", queries: terms.map(toQuery) }',
        '{ combineWith: "AND", queries: terms.map(toQuery) }',
      ],
    },
  },
  "tests/app/pages/home-sessions.test.ts": {
    "app/(pages)/home/forms.ts": {
      "an owner who signs out of all other browsers is signed out of this one, too": [
        "{ ...about, which, allBut: group && owner.session?.sessionId }",
        "{ ...about, which }",
      ],
    },
  },
};
