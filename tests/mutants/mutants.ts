/** A mistake that somebody might make, and the tests that are to notice it. */
export type Mutant = {
  file: string;
  mistake: string;
  was: string;
  becomes: string;
  tests: string[];
  /** Only what Next serves shows it, so that all has to be built again. */
  isInPages?: boolean;
};

const quotas: Mutant[] = [
  {
    file: "lib/api/process-counter.ts",
    mistake: "one request more than the limit is accepted",
    was: "recent.count >= this.limit",
    becomes: "recent.count > this.limit",
    tests: ["tests/lib/api/process-counter.test.ts"],
  },
  {
    file: "lib/api/process-counter.ts",
    mistake: "the number of keys has no bound",
    was: "else if (this.size >= this.mostKeys) this.forgetOldest();",
    becomes: "",
    tests: ["tests/lib/api/process-counter.test.ts"],
  },
  {
    file: "lib/api/process-counter.ts",
    mistake: "a refusal is counted too",
    was: "const waitMs = recent.oldestMs",
    becomes: "recent.add(nowMs);\n      const waitMs = recent.oldestMs",
    tests: ["tests/lib/api/process-counter.test.ts"],
  },
  {
    file: "lib/api/client-address.ts",
    mistake: "the entry that a client can send is believed",
    was: "chain.at(-trustedProxyHops)",
    becomes: "chain.at(0)",
    tests: ["tests/lib/api/client-address.test.ts"],
  },
  {
    file: "lib/api/client-address.ts",
    mistake: "each address of a household's IPv6 network has a quota of its own",
    was: "groups.slice(0, 4)",
    becomes: "groups.slice(0, 8)",
    tests: ["tests/lib/api/client-address.test.ts"],
  },
  {
    file: "lib/api/rate-limit.ts",
    mistake: "MCP goes uncounted while the counter store is away",
    was: 'name === "health" ?',
    becomes: "name ?",
    tests: ["tests/lib/api/shared-counter.test.ts"],
  },
  {
    file: "lib/api/rate-limit.ts",
    mistake: "a refusal has no Retry-After",
    was: 'headers: { "retry-after": String(wait) },',
    becomes: "",
    tests: ["tests/app/api/health.test.ts"],
  },
  {
    file: "lib/api/endpoint.ts",
    mistake: "a spent quota refuses nobody",
    was: "if (spent.refusal) throw spent.refusal;",
    becomes: "",
    tests: ["tests/app/api/health.test.ts"],
  },
  {
    file: "lib/api/endpoint.ts",
    mistake: "any version is served",
    was: "      admit(request);\n",
    becomes: "",
    tests: ["tests/lib/api/operations.test.ts", "tests/app/api/health.test.ts"],
  },
];

const caching: Mutant[] = [
  {
    file: "lib/api/headers.ts",
    mistake: "a refusal may be kept by shared caches",
    was: "answer.status === 200 && address ?",
    becomes: "address ?",
    tests: ["tests/app/api/site-banner.test.ts", "tests/lib/api/endpoint.test.ts"],
  },
  {
    file: "lib/api/headers.ts",
    mistake: "caches are not told that the version matters",
    was: 'stamp.push("vary", "API-Version")',
    becomes: "stamp.push()",
    tests: ["tests/app/api/site-banner.test.ts"],
  },
  {
    file: "lib/site-banner.ts",
    mistake: "a notice shows at its very end",
    was: "nowMs >= (banner.endsAtMs",
    becomes: "nowMs > (banner.endsAtMs",
    tests: ["tests/lib/site-banner.test.ts"],
  },
  {
    file: "lib/site-banner.ts",
    mistake: "the copy of the notice is kept for hours",
    was: "held.readAgainAtMs = clockMs + copyLivesMs",
    becomes: "held.readAgainAtMs = clockMs + copyLivesMs * 1000",
    tests: ["tests/lib/site-banner.test.ts"],
  },
  {
    file: "lib/pages/hall.ts",
    mistake: "a copied token may be kept",
    was: 'caching = "no-store"',
    becomes: 'caching = "private"',
    tests: ["tests/app/pages/home-token.test.ts"],
  },
];

const sessions: Mutant[] = [
  {
    file: "lib/session/session-token.ts",
    mistake: "whatever algorithm a token names is taken",
    was: 'alg: z.literal("RS256")',
    becomes: "alg: text",
    tests: ["tests/lib/session/session-token.test.ts"],
  },
  {
    file: "lib/session/session-token.ts",
    mistake: "a token lives a minute past its end",
    was: "endsAt + skewSeconds",
    becomes: "endsAt + 60",
    tests: ["tests/lib/session/session-token.test.ts"],
  },
  {
    file: "lib/session/session-token.ts",
    mistake: "who has not finished signing in is signed in",
    was: 'status !== "pending"',
    becomes: "true",
    tests: ["tests/lib/session/session-token.test.ts"],
  },
  {
    file: "lib/session/issuer.ts",
    mistake: "a token that was minted for another site's page is taken",
    was: "origin !== undefined && !issuer.authorizedParties.includes(origin)",
    becomes: "false",
    tests: ["tests/lib/session/session-token.test.ts", "tests/app/api/entitlement.test.ts"],
  },
  {
    file: "lib/session/issuer.ts",
    mistake: "a token that is remembered never ends",
    was: "const stands = isInForce(known, nowMs) && ",
    becomes: "const stands = ",
    tests: ["tests/lib/session/session.test.ts"],
  },
  {
    file: "lib/accounts/caller.ts",
    mistake: "an outage is told as signed out",
    was: 'return { is: "unavailable" };',
    becomes: 'return { is: "signed-out", tokenWasSent: true };',
    tests: ["tests/app/api/entitlement.test.ts"],
  },
  {
    file: "lib/session/credential.ts",
    mistake: "a bad bearer token falls back to the cookie",
    was: "bearerToken(headers) ??",
    becomes: "bearerToken(headers) ||",
    tests: ["tests/app/api/entitlement.test.ts"],
  },
  {
    file: "lib/session/resource.ts",
    mistake: "a token for the API opens the MCP server",
    was: "resource !== undefined && addressesOf(resource).some((address) => audience.includes(address))",
    becomes: "resource !== undefined",
    tests: ["tests/app/connect.test.ts"],
  },
  {
    file: "lib/session/browser-session.ts",
    mistake: "a browser's session is renewed past its end",
    was: '.where("local_sessions.expires_at_ms", ">", nowMs)',
    becomes: "",
    tests: ["tests/app/pages/sign-in.test.ts"],
  },
  {
    file: "lib/accounts/owner.ts",
    mistake: "a program's token buys its successor",
    was: 'if (asking.headers.has("authorization")) throw onlyInBrowser();',
    becomes: "",
    tests: ["tests/app/pages/home-token.test.ts"],
  },
  {
    file: "lib/accounts/owner.ts",
    mistake: "a program's token buys its successor where Clerk's cookie belongs",
    was: 'if (caller.session.kind !== "clerk") throw onlyInBrowser();',
    becomes: "",
    tests: ["tests/app/pages/home-token.test.ts"],
  },
  {
    file: "lib/connect/approval.ts",
    mistake: "an owner approves what was begun in somebody else's browser",
    was: 'if (ask.by === "request" && heldUid !== ask.uid) return undefined;',
    becomes: "",
    tests: ["tests/app/connect.test.ts"],
  },
];

const accounts: Mutant[] = [
  {
    file: "lib/accounts/entitlement.ts",
    mistake: "a trial runs at its very end",
    was: "leftMs <= 0",
    becomes: "leftMs < 0",
    tests: ["tests/lib/accounts/entitlement.test.ts"],
  },
  {
    file: "lib/accounts/entitlement.ts",
    mistake: "an app is told to ask again after its trial's end",
    was: "Math.min(askAgainSeconds, Math.floor(leftMs / 1000))",
    becomes: "askAgainSeconds",
    tests: ["tests/lib/accounts/entitlement.test.ts"],
  },
  {
    file: "lib/accounts/ledger.ts",
    mistake: "a balance goes below 0",
    was: '.where((column) => column("credit_thousandths", ">=", -entry.thousandths))',
    becomes: "",
    tests: ["tests/lib/accounts/ledger.test.ts", "tests/lib/admin/main.test.ts"],
  },
  {
    file: "lib/accounts/invitations.ts",
    mistake: "an invitation that has run out opens an account",
    was: '.where("expires_at_ms", ">", nowMs)',
    becomes: "",
    tests: ["tests/app/pages/invitation.test.ts"],
  },
];

const mails: Mutant[] = [
  {
    file: "lib/onboarding/unsubscribe-token.ts",
    mistake: "a link's signature is not looked at",
    was: "timingSafeEqual(sent, Buffer.from(sign(accountId, key)))",
    becomes: "Boolean(key && sent)",
    tests: ["tests/app/api/email/unsubscribe.test.ts"],
  },
  {
    file: "lib/onboarding/outbox.ts",
    mistake: "an unsubscribe does not wait for a mail that is being sent",
    was: "await mayAnyArrive(db, to, nowMs + waitedMs)",
    becomes: "false",
    tests: ["tests/lib/onboarding/outbox.test.ts"],
  },
  {
    file: "lib/onboarding/claims.ts",
    mistake: "who has unsubscribed gets the next mail",
    was: "email === null || row.suppressed_hash !== null",
    becomes: "email === null",
    tests: ["tests/lib/onboarding/outbox.test.ts"],
  },
  {
    file: "lib/onboarding/claims.ts",
    mistake: "a mail is tried for ever",
    was: "row.first_attempt_at_ms <= nowMs - giveUpAfterMs",
    becomes: "false",
    tests: ["tests/lib/onboarding/outbox.test.ts"],
  },
  {
    file: "lib/onboarding/claims.ts",
    mistake: "who lost the lease writes down what became of the mail",
    was: '.where("lease_until_ms", "=", leased.leaseUntilMs)',
    becomes: "",
    tests: ["tests/lib/onboarding/outbox.test.ts"],
  },
  {
    file: "lib/onboarding/suppressions.ts",
    mistake: "an address in capitals is another one",
    was: "email.toLowerCase()",
    becomes: "email",
    tests: ["tests/lib/onboarding/outbox.test.ts", "tests/lib/admin/main.test.ts"],
  },
  {
    file: "lib/mail/smtp-sender.ts",
    mistake: "a mail that was refused for good is tried again",
    was: "mayRetry: !isRefused",
    becomes: "mayRetry: true",
    tests: ["tests/lib/mail/sender.test.ts"],
  },
];

const signIn: Mutant[] = [
  {
    file: "lib/sign-in/code.ts",
    mistake: "guesses are not counted",
    was: 'column("tries", "+", 1)',
    becomes: 'column("tries", "+", 0)',
    tests: ["tests/lib/sign-in/code.test.ts"],
  },
  {
    file: "lib/sign-in/code.ts",
    mistake: "every stranger's request is a mail",
    was: "const isInMailbox = ",
    becomes: "const isInMailbox = false && ",
    tests: ["tests/lib/sign-in/code.test.ts"],
  },
  {
    file: "lib/sign-in/code-shares.ts",
    mistake: "one address uses up what all strangers have",
    was: " && Number(from_address) < mostShortCodes.oneAddress",
    becomes: " && Number(from_address) >= 0",
    tests: ["tests/lib/sign-in/code.test.ts"],
  },
  {
    file: "lib/sign-in/local-sign-in.ts",
    mistake: "the mail leaves before the answer, so that an account shows by the time it takes",
    was: "  afterAnswer(sendWhereNobodyDoes);",
    becomes: "  await sendSignInMailsNow();",
    tests: ["tests/lib/sign-in/sign-in-mail.test.ts"],
  },
  {
    file: "lib/pages/form.ts",
    mistake: "forms have no bound",
    was: "if (!allowed) return",
    becomes: "if (Number.isNaN(headers)) return",
    tests: ["tests/app/pages/sign-in.test.ts"],
  },
  {
    file: "lib/pages/hall.ts",
    mistake: "a form of another site is taken",
    was: "if (!fromAnywhere) requireOurOrigin(headers);",
    becomes: "",
    tests: ["tests/app/pages/sign-in.test.ts"],
  },
  {
    file: "lib/api/cookies.ts",
    mistake: "of two cookies of one name the first is believed",
    was: "another === undefined ? value : undefined",
    becomes: "value",
    tests: ["tests/lib/api/cookies.test.ts"],
  },
  {
    file: "lib/api/cookies.ts",
    mistake: "a host beside ours can set our cookies",
    was: 'name !== "__session" && isHttps()',
    becomes: "false",
    tests: ["tests/app/pages/sign-in-attacks.test.ts"],
  },
];

const bounds: Mutant[] = [
  {
    file: "lib/api/body.ts",
    mistake: "a body may be a byte over its bound",
    was: "if (bytes > mostBytes) throw",
    becomes: "if (bytes > mostBytes + 1) throw",
    tests: ["tests/lib/api/body.test.ts"],
  },
  {
    file: "lib/api/door.ts",
    mistake: "an address under /mcp in another spelling is a page's",
    was: "(?:api|mcp)(?!",
    becomes: "(?:api)(?!",
    tests: ["tests/lib/api/door.test.ts"],
    isInPages: true,
  },
  {
    file: "lib/front/unreadable.ts",
    mistake: "a second answer is written into one that has begun",
    was: "!socket.writable || answer?.headersSent",
    becomes: "!socket.writable",
    tests: ["tests/lib/front/unreadable.test.ts"],
  },
  {
    file: "lib/front/exchange-deadline.ts",
    mistake: "who never reads is never cut",
    was: "exchange.begunAtMs < overdueMs",
    becomes: "overdueMs < 0",
    tests: ["tests/lib/front/exchange-deadline.test.ts"],
  },
  {
    file: "lib/api/retirement.ts",
    mistake: "a retirement without notice is announced",
    was: "sunset < announced + leastNoticeDays * dayMs",
    becomes: "sunset < announced",
    tests: ["tests/lib/api/retirement.test.ts"],
  },
  {
    file: "lib/process/log.ts",
    mistake: "the log keeps the row that a driver quotes",
    was: "return { name, code:",
    becomes: "return { ...failure, name, code:",
    tests: ["tests/lib/process/log.test.ts"],
  },
];

/** Those that need the pages built come last. */
export const mutants: Mutant[] = [
  ...quotas,
  ...caching,
  ...sessions,
  ...accounts,
  ...mails,
  ...signIn,
  ...bounds,
].sort((one, other) => Number(one.isInPages ?? false) - Number(other.isInPages ?? false));
