import type { Mistakes } from "@/tests/mutants/mutant";

export const accounts: Mistakes = {
  "tests/lib/accounts/owners.drill.ts": {
    "lib/accounts/leaving/leaving.ts": {
      "who stays keeps everyone": [
        '.where("id", "=", id)\n      .where("deletes_at_ms", ">", nowMs)',
        '.where("deletes_at_ms", ">", nowMs)',
      ],
    },
    "lib/billing/fulfilment/bought-credits.ts": {
      "credits are given with each delivery": [
        'state !== known.state && state === "fulfilled"',
        'state === "fulfilled"',
      ],
      "a refund of credits takes nothing": [": Math.min(due, spendable(account) + given);", ": 0;"],
    },
    "lib/mail/kinds/licence.ts": {
      "the mail about a licence's end goes to who has been given one":
        '  if (plan === "licensed") return undefined;\n',
    },
  },
  "tests/lib/plans/entitlement.test.ts": {
    "lib/plans/entitlement.ts": {
      "a trial runs at its very end": ["trial_ends_at_ms <= nowMs", "trial_ends_at_ms < nowMs"],
      "an app is told to ask again after its trial's end": [
        "Math.min(askAgainSeconds, Math.floor((endMs - nowMs) / 1000))",
        "askAgainSeconds",
      ],
    },
  },
  "tests/lib/admin/main.test.ts": {
    "lib/accounts/credits/ledger.ts": {
      "a balance goes below 0": ["credit_thousandths - held_thousandths >=", "1e18 >="],
    },
  },
  "tests/lib/accounts/erasure.test.ts": {
    "lib/accounts/leaving/erasure.ts": {
      "an erased person's sessions stay, with the account that they are of":
        'await transaction.deleteFrom("accounts").where("id", "=", account.id).execute();',
      "the apps of an erased person's account stay connected": [
        'await transaction.deleteFrom("connect_state").where(subjectOfState(transaction), "=", id).execute();',
        "continue;",
      ],
      "the account that stays of an erased person keeps its id": [
        "const id = pseudonymOf(account.id);",
        'const id = account.id.concat("_");',
      ],
      "an erased person stays in the store's log of changes": "  await processStore().purgeDeleted();\n",
    },
  },
  "tests/lib/db/redaction.test.ts": {
    "lib/db/redaction.ts": {
      "an erased address stays where it is percent-encoded": ["(?:%(?:25){0,4}|=)", "="],
    },
  },
  "tests/lib/accounts/invitations.test.ts": {
    "lib/mail/links/invitation-token.ts": {
      "an invitation is shown as open at its very end": [
        "invitation.expires_at_ms <= nowMs",
        "invitation.expires_at_ms < nowMs",
      ],
    },
    "lib/accounts/joining/invitations.ts": {
      "an invitation opens an account at its very end": [
        'eb("expires_at_ms", ">", nowMs)',
        'eb("expires_at_ms", ">=", nowMs)',
      ],
    },
  },
  "tests/app/pages/leaving.test.ts": {
    "lib/accounts/leaving/leaving.ts": {
      "a second request moves the day on which an account is deleted": '.where("deletes_at_ms", "is", null)',
      "an account is kept by the link of an earlier mail":
        'if (deletesAtMs !== Number(atMs)) return { state: "invalid" };',
      "anyone can keep an account that is to be deleted": [
        'if (!isKeyedHash(proof, "keep-account:v1",',
        'if (false && !isKeyedHash(proof, "keep-account:v1",',
      ],
      "an account is kept while it is being erased": [
        '.where("deletes_at_ms", ">", nowMs)',
        '.where("deletes_at_ms", ">", 0)',
      ],
    },
    "lib/http/register/forms.ts": {
      "a browser left open is enough to delete an account": [
        'leave: { path: "/home/account/delete", ...ownAccount, needsProof: true },',
        'leave: { path: "/home/account/delete", ...ownAccount },',
      ],
    },
    "lib/billing/leavers.ts": {
      "a person is erased whose licence Stripe goes on charging":
        '      await deleteCustomer(db, "email", leaver.email, nowMs);\n',
    },
    "lib/admin/emails.ts": {
      "where cron does the work, no owner is ever gone": "    await eraseLeavers(db, Date.now());\n",
    },
  },
  "tests/lib/accounts/accounts.test.ts": {
    "lib/accounts/accounts.ts": {
      "an underscore in a search finds every account": ['.replace(/[\\\\%_]/g, "\\\\$&");', ";"],
    },
  },
  "tests/lib/db/audit.test.ts": {
    "lib/db/audit.ts": {
      "entries of one instant are missing from a long list of the audit": [
        'eb(refTuple("at_ms", "id"), "<", tuple(at_ms, id))',
        'eb("at_ms", "<", at_ms)',
      ],
    },
  },
  "tests/lib/admin/person.test.ts": {
    "lib/mail/senders/file-sender.ts": {
      "a person who came back after an erasure loses their mail": [
        "mtimeMs <= (erased.get(hashEmail(email)) ?? Number.NEGATIVE_INFINITY)",
        "mtimeMs > 0 && erased.has(hashEmail(email))",
      ],
    },
  },
  "tests/lib/accounts/retention.test.ts": {
    "lib/accounts/leaving/retention.ts": {
      "retention deletes 500 rows an hour": ["count >= batchSize", "count > batchSize"],
    },
  },
  "tests/lib/db/transaction.test.ts": {
    "lib/db/transaction.ts": {
      "a transaction that met another in a deadlock fails its request": ['"40001", "40P01"', '"40001"'],
    },
  },
  "tests/lib/db/store.test.ts": {
    "lib/db/sqlite/file.ts": {
      "a loss of power takes what was acknowledged": [
        "PRAGMA synchronous = FULL;",
        "PRAGMA synchronous = NORMAL;",
      ],
    },
  },
};
