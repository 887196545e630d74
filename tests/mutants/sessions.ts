import type { Mistakes } from "@/tests/mutants/mutant";

export const sessions: Mistakes = {
  "tests/lib/auth/tokens/session-token.test.ts": {
    "lib/auth/tokens/session-token.ts": {
      "a signature is not looked at": 'await compactVerify(token, publicKey, { algorithms: ["RS256"] });',
      "a token lives a minute past its end": ["endsAt + skewSeconds", "endsAt + 60"],
      "a browser with a pending sign-in is signed in": ['status !== "pending"', "true"],
    },
  },
  "tests/lib/auth/sessions/session.test.ts": {
    "lib/auth/tokens/verifier.ts": {
      "a token that was minted for another site's page is taken": [
        "parsed.origin !== undefined && !issuer.authorizedParties.includes(parsed.origin)",
        "false",
      ],
      "a token that is remembered never ends": [
        "const isValid = isCurrentlyValid(known, nowMs) && ",
        "const isValid = ",
      ],
    },
  },
  "tests/app/api/entitlement.test.ts": {
    "lib/accounts/caller.ts": {
      "an outage is told as signed out": [
        'return { is: "unavailable" };',
        'return { is: "signed-out", tokenWasSent: true };',
      ],
      "a session that was ended goes on": [
        "if (session_id === null || expires_at_ms === null || key_id === null) return",
        "if (session_id === null && key_id === null) return",
      ],
    },
    "lib/auth/tokens/credential.ts": {
      "a bad bearer token falls back to the cookie": [
        "? [sent.token] :",
        "? [sent.token, ...readSessionCookies(headers)] :",
      ],
    },
  },
  "tests/app/pages/sign-in.test.ts": {
    "lib/auth/sessions/browser-session.ts": {
      "a browser's session is renewed past its end": '.where("local_sessions.expires_at_ms", ">", nowMs)',
      "a session's last token outlives it": [
        "Math.min(nowMs + sessionTokenSeconds * 1000, session.endsAtMs)",
        "nowMs + sessionTokenSeconds * 1000",
      ],
    },
  },
  "tests/app/owner-forms.test.ts": {
    "lib/accounts/require-owner.ts": {
      "a program's token buys its successor": "if (bringsToken(call.headers)) throw onlyInBrowser();",
      "a button acts for another account than the page named": [
        "shownAccountId !== undefined && shownAccountId !== account.id",
        'shownAccountId === ""',
      ],
    },
  },
  "tests/app/pages/home-sessions.test.ts": {
    "lib/accounts/caller.ts": {
      "a session goes on past its end": '.onRef("session.expires_at_ms", ">", "asked.nowMs")',
    },
    "lib/auth/sessions/session-start.ts": {
      "a program's token outlives the browser's session that it was made in": [
        "madeIn?.endsAtMs ?? Number.POSITIVE_INFINITY",
        "Number.POSITIVE_INFINITY",
      ],
      "tokens made in a session outlive it": ["made_in: madeIn?.sessionId ?? null", "made_in: null"],
      "an account has a session more than its most": [
        "sessions.slice(maxSessions - 1)",
        "sessions.slice(maxSessions)",
      ],
    },
    "lib/auth/sessions/session-end.ts": {
      "an owner ends another account's sessions": [
        '.where("account_id", "=", accountId)\n      .where((row)',
        ".where((row)",
      ],
      "an owner who ends all other sessions is signed out": '.where("id", "!=", allBut)',
    },
  },
  "tests/app/hooks/clerk-ends.test.ts": {
    "lib/accounts/require-owner.ts": {
      "an impersonator acts as the owner": ['if (by === "owner") return;', "if (by) return;"],
      "a program's token buys its successor where Clerk's cookie belongs":
        'if (session?.kind !== "clerk") throw onlyInBrowser();',
    },
    "lib/accounts/caller.ts": {
      "a browser goes on after its session has ended at Clerk": [
        "return ended_id === null ?",
        "return token ?",
      ],
      "a user banned at Clerk stays signed in for a minute": ["row.barred_id !== null &&", "!row &&"],
    },
    "lib/accounts/clerk-user.ts": {
      "the apps of who is banned at Clerk come back with them":
        "if (account) await endSessionsOf(db, { ...barring, accountId: account.id }, nowMs);",
      "an older answer of Clerk about a user counts again": [
        "if (updatedAtMs > toldAtMs ||",
        "if (toldAtMs > 0 ||",
      ],
    },
    "app/hooks/clerk/route.ts": {
      "apps that were let in by a revoked session stay": [
        'end("revoked", {})',
        'end("revoked", { kind: "program" })',
      ],
    },
  },
  "tests/lib/accounts/caller.test.ts": {
    "lib/accounts/caller.ts": {
      "of those who ask together one is answered with another's row": [
        "together[row.place]?.resolve(row)",
        "together[0]?.resolve(row)",
      ],
    },
  },
  "tests/lib/mcp/tool-call.test.ts": {
    "lib/mcp/protocol-version.ts": {
      "a changed header of an MCP client gets the answer to its former value": [
        "JSON.stringify([name, meta, typeof traceparent, values])",
        "JSON.stringify([name, meta, typeof traceparent])",
      ],
    },
  },
  "tests/lib/auth/keys/keys.test.ts": {
    "lib/accounts/caller.ts": {
      "a key that was revoked goes on": '.on("key.revoked_at_ms", "is", null)',
    },
  },
  "tests/app/pages/sign-in-attacks.test.ts": {
    "app/(pages)/sign-in/sign-out.ts": {
      "signing out leaves the session as it is": [
        "for (const session of [own, proved])",
        "for (const session of [own])",
      ],
    },
  },
  "tests/lib/auth/sessions/session-use.test.ts": {
    "lib/auth/sessions/session-use.ts": {
      "when a session was last used is written down with every request": [
        "nowMs - (recordedUses().get(id) ?? Number.NEGATIVE_INFINITY) < seenEveryMs",
        "nowMs < 0",
      ],
      "the last use of a session is not stored": [
        ".set({ last_seen_at_ms: nowMs, expires_at_ms: endsAtMs })",
        ".set({ expires_at_ms: endsAtMs })",
      ],
      "use brings an ended session back": '.where("expires_at_ms", ">", nowMs)',
    },
  },
  "tests/lib/auth/tokens/verifier.test.ts": {
    "lib/auth/tokens/verifier.ts": {
      "a token names any issuer that it likes": [
        "if (key?.issuer !== issuer) return undefined;",
        "if (!key) return undefined;",
      ],
    },
  },
  "tests/lib/admin/person.test.ts": {
    "lib/accounts/leaving/retention.ts": {
      "an ended session stays for two years": [
        "untilMs: nowMs, only: isOfNoApp",
        "untilMs: beforeMs, only: isOfNoApp",
      ],
    },
  },
  "tests/app/lifetimes.test.ts": {
    "lib/oauth/app-session.ts": {
      "another client is told why an app's access ended": " || sent.clientId !== clientId",
      "an app that is kept loses its grant":
        "for (const { id } of kept) await keepGrant(transaction, grantOfSession(id), nowMs);",
    },
    "lib/auth/sessions/ended-app.ts": {
      "an app that was not used is said to be over": [
        "expires_at_ms === last_date_ms",
        "last_date_ms !== undefined",
      ],
    },
    "lib/auth/sessions/session-use.ts": {
      "an app that is used never ends": [
        "Math.min(nowMs + sessionDays.idle * dayMs, last_date_ms)",
        "nowMs + sessionDays.idle * dayMs",
      ],
      "an owner does not see for a minute that an app was told otherwise": [
        "if (last?.told === told && nowMs - last.atMs < checkedEveryMs) return;",
        "if (last && nowMs - last.atMs < checkedEveryMs) return;",
      ],
    },
  },
  "tests/app/connect-attacks.test.ts": {
    "lib/auth/tokens/credential.ts": {
      "an app's token opens its owner's pages": [
        "return resource !== undefined && ",
        "return resource === undefined || ",
      ],
    },
  },
  "tests/lib/auth/keys/key-ring.test.ts": {
    "lib/auth/keys/key-ring.ts": {
      "a key that cannot be opened is told as signed out": [
        "return this.knows(kid, nowMs) ? this.requireKey(this.row(kid)) : undefined;",
        "return this.opened.get(kid);",
      ],
    },
    "lib/auth/keys/signing-keys.ts": {
      "tokens of a retired key are refused within minutes": [
        "maxTokenSeconds * 1000 + propagationMs",
        "maxTokenSeconds + propagationMs",
      ],
    },
  },
  "tests/app/pages/sign-in-outages.test.ts": {
    "lib/accounts/caller.ts": {
      "a browser that cannot renew its session during an outage is told that it ended": [
        'await readCaller(await store(), { subject: "", sessionId: "", nowMs });',
        ";",
      ],
    },
  },
  "tests/lib/auth/clerk/clerk-calls.test.ts": {
    "lib/http/turns.ts": {
      "after twenty calls Clerk is asked no more": "      for (const share of path) share.running--;\n",
    },
  },
};
