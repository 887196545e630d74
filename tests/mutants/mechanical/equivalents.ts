/** Why a mistake changes nothing that anyone sees, by its file and change. */
export const equivalents: Record<string, string> = {
  "lib/billing/fulfilment/bought-credits.ts: due < 0 → <=":
    "with nothing due no entry is written, and what can be spent is never below 0",
  'lib/billing/stripe/payments.ts: && without typeof intent === "object"': "a text has no charge either",
  "lib/backend/inputs.ts: && without thousandths !== undefined":
    "undefined is not below any number, nor above",
  "lib/billing/customer/customer.ts: && without failure instanceof StripeFailure":
    "no other failure has a code or a status of Stripe's",
  'lib/auth/keys/signing-keys.ts: without .where("kid", "=", row.kid)': "no two keys are sealed alike",
  "lib/plans/terms.ts: || without row.given_ends_at_ms === null":
    "null counts as an end that has come, and nothing is after it",
  "lib/rate-limit/client-address.ts: || without isIPv4(mappedIn(trimmed))":
    "it is only quicker: the patterns below find the same",
  "lib/admin/store-check.ts: Math.abs(aheadMs) > maxSkewMs → >=":
    "no two machines' clocks are compared to the millisecond",
  "lib/events/due-events.ts: round < roundsAtMost → <=": "what one more round takes, the next second does",
  "lib/accounts/caller.ts: && without waiting.length > before": "a lone reader waits a millisecond longer",
  "lib/db/migrate.ts: not awaited: store.destroy()":
    "its connections end a moment later, for which no one waits",
  "lib/rate-limit/local-counter.ts: || without recent.acceptedAtMs.length < this.limit":
    "it is only quicker: such a key is allowed",
  "lib/http/accept-header.ts: start < field.length → <=": "after a last comma there is a type without a name",
  "lib/http/errors.ts: this.status >= 500 → >": "no refusal for now has the status 500",
  "lib/db/redaction.ts: SQL ) > ($ → >=": "a text that is read twice is replaced once",
  "lib/db/backup-copy.ts: || without child.signalCode":
    "a copy whose tool was killed is read to its end before that is said",
  "lib/auth/sessions/session-use.ts: waiting.size >= maxRemembered → >":
    "what waits is bounded, and by a round number only for its reader",
  "lib/billing/stripe/calls.ts: || without !(failure instanceof Error)": "nothing else is thrown",
  'app/(pages)/home/owner-page.tsx: && without caller.is === "unreadable"':
    "it is only quicker: the account that a browser signed in to last is the one of its session",
  "lib/billing/checkout.ts: round < maxRounds → <=": "so many other checkouts never come in between",
  "lib/billing/fulfilment/fulfilment.ts: tries < maxReadings → <=":
    "so many other readings never come in between",
  "lib/billing/licence/subscription.ts: reading < maxReadings → <=":
    "so many other readings never come in between",
  "lib/billing/top-ups/top-up.ts: step < maxSteps → <=": "an invoice has no fifth step",
  "lib/accounts/credits/plan-credits.ts: batch < batchesAtMost → <=":
    "what one more batch gives, the next round does",
  "lib/oauth/token-rotation.ts: Math.random() < 1 / 16 → <=": "one number of very many is a sixteenth",
  "lib/server/compression.ts: accepted.length <= maxKeptCharacters → <":
    "what is remembered is bounded, and by a round number only for its reader",
  "lib/mcp/protocol-version.ts: key.length <= maxKeyCharacters → <":
    "what is remembered is bounded, and by a round number only for its reader",
  "lib/accounts/terms/gift-ends.ts: deferred.size > maxDeferred → >=":
    "what is remembered is bounded, and by a round number only for its reader",
  "lib/events/delivery-runner.ts: stored < maxWaiting → <=": "a round later the same is read",
  "lib/events/delivery-runner.ts: items.length - stored < maxUnsettled → <=":
    "a round later the same is read",
  "lib/server/cached-response.ts: content.length <= maxTextBytes → <": "a text and a buffer are sent alike",
  "lib/http/known-caller.ts: sent.length > 60 → >=": "no credential of ours is so short",
  "lib/auth/keys/key-ring.ts: place < this.kept → <=": "no two readings have the same place",
  'lib/auth/tokens/proof.ts: number < "8" → <=': "the number has two digits or more",
};
