import type { Mistakes } from "@/tests/mutants/mutant";

export const mails: Mistakes = {
  "tests/app/api/email/unsubscribe.test.ts": {
    "lib/mail/links/unsubscribe-token.ts": {
      "a link's signature is not looked at": [
        "isSameSecret(token, mintUnsubscribeToken(key, accountId))",
        "Boolean(key && token)",
      ],
    },
    "lib/mail/unsubscribe.ts": {
      "of two tokens in a link the first counts":
        'if (another !== undefined) throw new ApiError("invalid_token");',
      "an unsubscribe that failed is told as done": "  if (isStopped) return;",
    },
  },
  "tests/lib/mail/onboarding-outbox.test.ts": {
    "lib/mail/unsubscribe.ts": {
      "an unsubscribe does not wait for a mail that is being sent": [
        "await isAnyPending(db, to, nowMs + waitedMs)",
        "false",
      ],
      "an unsubscribe leaves a mail that was put back while it stopped the others": [
        'mail.or([mail("state", "=", "scheduled"), isLeased(nowMs)(mail)])',
        "isLeased(nowMs)(mail)",
      ],
      "an unsubscribe stops the mails to the address that the account has now alone": [
        "const hashes = rows.map((row) => row.recipient_hash);",
        "const hashes = account ? [] : rows.map((row) => row.recipient_hash);",
      ],
    },
    "lib/mail/outbox/onboarding-outbox.ts": {
      "a lease from before the clock was set back holds an unsubscribe up": [
        ', eb("lease_until_ms", "<=", nowMs + maxLeaseMs)])',
        "])",
      ],
      "an unsubscribed reader gets the next mail":
        '    if (await isSuppressed(db, recipient_hash)) return settle("stopped");\n',
      "a mail is tried for ever": ["mail.triedUntilMs <= nowMs", "false"],
      "a runner that lost its lease stores the mail's outcome": '.where("lease_until_ms", "=", leaseUntilMs)',
      "a mail goes to an address that was not looked up": [
        "const recipient_hash = hashEmail(wanted.to);",
        "const { recipient_hash } = mail;",
      ],
      "a mail that was sent when the store went away is sent again": [
        "isSettling ? [scheduled] : [abandoned, scheduled]",
        "[abandoned, scheduled]",
      ],
    },
    "lib/mail/kinds/onboarding.ts": {
      "a company whose trial has ended gets the next onboarding mail":
        'if (plan === "trial" && trial_ends_at_ms !== null && trial_ends_at_ms <= nowMs) return undefined;',
    },
    "lib/mail/outbox/suppressions.ts": {
      "an address in capitals is another one": ["email.toLowerCase()", "email"],
    },
  },
  "tests/lib/mail/sender.test.ts": {
    "lib/mail/senders/smtp-sender.ts": {
      "a mail that was refused for good is tried again": ["mayRetry: !isRefused", "mayRetry: true"],
    },
  },
  "tests/app/hooks/resend.test.ts": {
    "lib/http/hook-events.ts": {
      "anyone can speak for the mail provider": [
        "whyUnsigned(headers, body, key, nowMs), nowMs",
        "undefined, nowMs",
      ],
      "a delivery that could not be handled is not sent again": [
        'errorParts(error.status >= 500 ? new ApiError("unavailable") : error)',
        "({ status: 204, body: error.status >= 500 ? null : error.toJSON() })",
      ],
      "an event is dealt with by what every object has": [
        "Object.hasOwn(handlers, event.type) ? handlers[event.type] : undefined",
        "handlers[event.type]",
      ],
    },
    "app/hooks/resend/route.ts": {
      "a full mailbox gets no mail any more": ["if (isFinalBounce(bounce?.type)) await", "await"],
    },
  },
  "tests/lib/http/hook-events.test.ts": {
    "lib/http/hook-events.ts": {
      "a delivery of last year is taken once more": [
        'toleranceSeconds ? "another time"',
        "toleranceSeconds ? undefined",
      ],
      "a delivery without an id is taken": ["if (!id || !/", "if (!/"],
      "of several signatures of a delivery the first counts": [
        'signatures.split(" ", maxSignatures)',
        'signatures.split(" ", 1)',
      ],
    },
  },
  "tests/app/hooks/clerk.test.ts": {
    "lib/accounts/clerk-user.ts": {
      "a reader who stopped our mail gets it at another address": [
        "if (await isSuppressed(transaction, hashEmail(email)))",
        "if (!email)",
      ],
    },
    "lib/mail/senders/clerk-invitations.ts": {
      "Clerk is asked for an invitation more than it takes": [
        "Math.floor(before / clerkTakes)",
        "Math.floor((before - 1) / clerkTakes)",
      ],
    },
  },
  "tests/app/pages/sign-in.test.ts": {
    "lib/auth/local-sign-in.ts": {
      "the first sign-in of an account is reported as a new browser": [
        "(await findSignIn(db, email, sinceMs)).rows.length > 0",
        "true",
      ],
    },
  },
  "tests/lib/mail/outboxes.test.ts": {
    "lib/mail/kind.ts": {
      "a code is mailed to who has no account": ["(await findOwner(db, to)).rows.length > 0", "true"],
    },
    "lib/mail/outbox/outboxes.ts": {
      "a code is mailed after it has expired": [
        "    if (triedUntilMs <= nowMs) return void (await deleteMail(db, claimed));\n",
        "",
      ],
    },
    "lib/mail/outbox/due-rows.ts": {
      "a runner waits for the sign-in mails that another one holds": [
        ".limit(limit).forUpdate().skipLocked()",
        ".limit(limit).forUpdate()",
      ],
    },
    "lib/mail/outbox/outbox.ts": {
      "codes wait behind the mails of a date":
        '    .where(isOfKind(kindNames[isScheduled ? "scheduled" : "others"]))\n',
      "a mail that cannot be opened stops all sign-in mails": [
        "fields.safeParse(open(id, sealed)).data",
        "fields.parse(open(id, sealed))",
      ],
    },
  },
  "tests/lib/admin/person.test.ts": {
    "lib/accounts/leaving/retention.ts": {
      "retention deletes a mail that is still to be sent": [
        "('sent', 'stopped', 'failed')",
        "('sent', 'stopped', 'failed', 'scheduled')",
      ],
    },
  },
  "tests/lib/mail/scheduled-mails.test.ts": {
    "lib/mail/kinds/trial.ts": {
      "a trial that was extended between two attempts is said to have ended":
        '    .where("trial_ends_at_ms", "=", endsAtMs)\n',
      "a trial's mail leaves another mark than the build before looks for": [
        "`trial_ends_at_ms - ",
        "`trial_ends_at_ms + 1 - ",
      ],
    },
    "lib/mail/kinds/apps.ts": {
      "an app that was kept is said to lose its access": '    .where(lastDate, "<=", mail.lastMs)\n',
      "each app of an owner has a mail of its own": ["nowMs + dayMs", "nowMs"],
    },
  },
  "tests/app/unsubscribe.test.ts": {
    "lib/mail/unsubscribe.ts": {
      "the page says that the emails are stopped when it cannot know": [
        "return { email: undefined, isStopped: false };",
        "return { email: undefined, isStopped: true };",
      ],
    },
  },
  "tests/lib/mail/outbox-runner.drill.ts": {
    "lib/mail/outbox/outbox-runner.ts": {
      "a mail is sent whose lease ends before the sender's time": [
        "const failure = isLate ?",
        "const failure = isLate && !isLate ?",
      ],
    },
  },
  "tests/lib/mail/dkim.test.ts": {
    "lib/mail/senders/dkim.ts": {
      "a field that is added to a signed mail keeps its signature valid": [
        "listed.push(...fields.map(() => name), name);",
        "listed.push(...fields.map(() => name));",
      ],
    },
  },
};
