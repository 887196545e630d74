import type { Mistakes } from "@/tests/mutants/mutant";

export const signIn: Mistakes = {
  "tests/lib/auth/passkeys/passkey-ceremony.test.ts": {
    "lib/auth/passkeys/passkey-ceremony.ts": {
      "a passkey signs in without its user": [
        "if (!isVerified) throw",
        "if (isVerified === undefined) throw",
      ],
    },
  },
  "tests/app/pages/passkeys-attacks.test.ts": {
    "lib/auth/passkeys/passkey-exchange.ts": {
      "a challenge works twice": [
        "  return hasRow(\n    transaction",
        "  if (transaction) return true;\n  return hasRow(\n    transaction",
      ],
    },
    "lib/accounts/own-passkeys.ts": {
      "another account's passkey signs in over a session": [
        "current.accountId !== passkey.accountId",
        'current.accountId === ""',
      ],
    },
    "lib/auth/passkeys/passkeys.ts": {
      "an owner renames another account's passkey": [
        'renaming.where("account_id", "=", account.id).returning("id")',
        'renaming.returning("id")',
      ],
    },
  },
  "tests/app/pages/passkeys.test.ts": {
    "lib/auth/passkeys/passkey-exchange.ts": {
      "a signature counter may go back": ["counter <= stored.counter && ", "counter < 0 && "],
    },
    "lib/auth/sessions/owner-confirmation.ts": {
      "a confirmation never gets old": [
        "Math.abs(nowMs - confirmedAtMs) < confirmationMs",
        "Math.abs(nowMs - confirmedAtMs) >= 0",
      ],
    },
  },
  "tests/lib/office/attacks.test.ts": {
    "lib/accounts/own-passkeys.ts": {
      "a browser is told that an operator's passkey is unknown, and deletes it": [
        'db.selectFrom("operator_passkeys")',
        'db.selectFrom("passkeys")',
      ],
    },
    "lib/office/session.ts": {
      "an operator's earlier session goes on in a copied cookie": [
        'hashSecret("operator-session", earlier)',
        'hashSecret("operator-session", id)',
      ],
    },
  },
  "tests/app/outages.drill.ts": {
    "lib/accounts/own-passkeys.ts": {
      "a browser is told by a copy of the store that a passkey is unknown, and deletes it":
        'outageSince("writes") !== undefined ||',
    },
  },
  "tests/app/pages/passkey-host.test.ts": {
    "lib/auth/passkeys/passkeys.ts": {
      "passkeys do not go on after a move": [
        "passkeyHost ?? new URL(appUrl).hostname",
        "new URL(appUrl).hostname",
      ],
    },
  },
  "tests/lib/auth/codes/sign-in-code.test.ts": {
    "lib/auth/codes/sign-in-code.ts": {
      "guesses are not counted": ['column("tries", "+", 1)', 'column("tries", "+", 0)'],
      "every stranger's request is a mail": ["const isAlreadyMailed = ", "const isAlreadyMailed = false && "],
      "a code signs in twice": "await deleteCode(transaction, browserHash);",
      "an O in a long code is not read as 0": ['.replaceAll("O", "0")', ""],
      "tries at once are more than tries in turn": '.forUpdate("sign_in_codes")',
    },
    "lib/auth/codes/sign-in-code-limits.ts": {
      "one address uses up what all strangers have": [
        " && ofAddress.length < maxShortCodes.oneAddress",
        " && Number(from_address) >= 0",
      ],
      "a flood that pushes codes out gives new guesses": [" ceilings().reachedAtMs = nowMs;", ";"],
    },
  },
  "tests/lib/auth/sign-in-mail.test.ts": {
    "lib/auth/local-sign-in.ts": {
      "the mail leaves before the answer, so that an account shows by the time it takes": [
        "  afterResponse(sendWithoutRunner);",
        "  await sendDueMails(await store(), sender(), outbox);",
      ],
    },
  },
  "tests/app/pages/sign-in.test.ts": {
    "lib/http/checks/limits.ts": {
      "forms have no bound": ["if (!refused) return;\n", "return;\n"],
    },
    "lib/http/cookies.ts": {
      "scripts read our cookies": "HttpOnly; ",
    },
  },
  "tests/app/routes.test.ts": {
    "lib/http/handler.ts": {
      "a form of another site is taken": [
        'isAsked: ({ origin }) => origin === "own"',
        "isAsked: () => false",
      ],
    },
  },
  "tests/lib/http/cookies.test.ts": {
    "lib/http/cookies.ts": {
      "of two cookies of one name the first is believed": [
        "return others.length === 0 ? value : undefined;",
        "return value;",
      ],
    },
  },
  "tests/app/pages/sign-in-attacks.test.ts": {
    "lib/http/cookies.ts": {
      "a neighbouring host can set our cookies": ['name !== "__session" && isHttps(name)', "false"],
    },
    "lib/auth/local-sign-in.ts": {
      "every stranger has the share of browsers that signed in before": [
        "isKnown: isKnownTo(headers, email)",
        "isKnown: true",
      ],
      "one address takes the share of all strangers": "address: client.knownKey,\n",
    },
  },
  "tests/app/pages/invitation.test.ts": {
    "lib/accounts/joining/invitations.ts": {
      "an email accepts its invitation by the link of another":
        'if (from.tokenHash) taking = taking.where("token_hash", "=", from.tokenHash);',
      "an invitation opens an account for whatever email is typed": [
        '.where("email", "=", from.email.toLowerCase())\n',
        "\n",
      ],
      "an invitation opens accounts again and again": [
        '.where("email", "=", from.email.toLowerCase())\n    .where("accepted_at_ms", "is", null)',
        '.where("email", "=", from.email.toLowerCase())',
      ],
    },
  },
  "tests/app/hooks/clerk.test.ts": {
    "lib/accounts/clerk-user.ts": {
      "an unverified email opens its account": [
        '  verification: z.object({ status: z.literal("verified") }),\n',
        "",
      ],
      "a user of Clerk's takes over the account of another": [
        'linking.where("subject", "is", null).returning("id")',
        'linking.returning("id")',
      ],
    },
  },
  "tests/lib/http/known-browser.test.ts": {
    "lib/runtime/keyed-hash.ts": {
      "a change of APP_SECRET makes strangers of all browsers": [
        "derivedKeys(purpose).map(",
        "derivedKeys(purpose).slice(0, 1).map(",
      ],
    },
  },
  "tests/app/pages/waitlist.test.ts": {
    "lib/mail/waitlist-confirmation.ts": {
      "who has an account is asked to confirm the waitlist": [
        'accountBy(transaction, "email", to)',
        'accountBy(transaction, "email", "")',
      ],
    },
  },
};
