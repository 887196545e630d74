/** Limits for the request line and headers of one request together; beyond them the server answers 431. */
export const headBounds = { bytes: 16 * 1024, lines: 100 };

/** Limits per connection, by Node's names. Beyond one the client gets our 431 or 408, and its connection ends. */
export const connectionLimits = {
  maxHeaderSize: headBounds.bytes,
  /** Until all request headers have arrived: 10 s. */
  headersTimeout: 10_000,
  /** Until the whole request has arrived, including its body: 30 s. */
  requestTimeout: 30_000,
  /** Between two requests: 65 s. A trusted proxy has `PROXY_KEEP_ALIVE_SECONDS`. */
  keepAliveTimeout: 65_000,
  /** How often Node checks the first two timeouts. */
  connectionsCheckingInterval: 1000,
};

/**
 * From a request's headers until its response has been read: 45 s, and a second for each 8 KiB that was read; then the
 * connection is destroyed. By the sum, because what systems buffer is read in steps of megabytes.
 */
export const exchangeBounds = { withinMs: 45_000, bytesPerSecond: 8 * 1024 };

/** How many spends one request of a backend has at most; and a transaction, unless its last request has more. */
export const maxWritesAtOnce = 1000;

/** How many writes of backends wait in one process; beyond them, a backend that has its share of them gets a 429. */
export const maxWaitingWrites = 20_000;

/** How long a hold lasts at most: 24 hours. */
export const maxHoldSeconds = 24 * 60 * 60;

/** How long the store and other services may take to answer, in milliseconds. */
export const answersWithinMs = {
  /** A query; a longer one fails. */
  store: 2000,
  clerk: 2000,
  clerkInvitation: 5000,
  stripe: 2000,
  /** How long a page waits for it. The call goes on, so a reload shows what was late. */
  stripeForPage: 800,
  /** How long a page waits for what an app publishes about itself; then it asks its browser to look again. */
  documentForPage: 800,
  /** Stripe takes up to a second to create something, and a concurrent request may hold its lock. */
  stripeCreation: 10_000,
  mail: 10_000,
  sharedCounters: 400,
};

/** Maximum bytes of responses that clients have not read, in all; beyond it, the oldest exchanges end. */
export const maxUnreadBytes = 64 * 1024 * 1024; // 64 MiB

/**
 * After the last response of a connection, 16 MiB of further input are discarded for at most 2 s, then the connection is
 * destroyed. Many clients read no response before they have sent their whole body.
 */
export const discardBounds = { bytes: 16 * 1024 * 1024, withinMs: 2000 };

/** Maximum open connections. Beyond it, the largest network's longest idle one is closed. */
export const maxConnections = 10_000;

/** Maximum requests with a body at once of one client's network: an IPv4 address or an IPv6 /48. */
export const maxRequestsInWork = 256;

/** Maximum requests of a connection that wait for the one in work; the next is refused, and the connection closed. */
export const maxPipelined = 8;

/** How requests share the event loop once it has more than it can take (`lib/http/rounds.ts`). */
export const roundBounds = {
  /** How long requests begin in one turn. */
  ms: 2,
  /** A turn that is longer halves how many begin in the next. */
  longMs: 4,
  /** What a known caller has had of the loop lately when others go first, of 2.9 s at most: half counts after two seconds. */
  muchMs: 500,
  halvedAfterMs: 2000,
  /** How long strangers, and who asks for much, leave something to known callers after one was seen to wait. */
  knownForMs: 1000,
  /** The milliseconds that then pass for each one of the loop that they use: it is theirs for half of the time. */
  pace: 2,
  /** The longest of such rests, so that a newcomer's request begins within it. */
  restMs: 100,
};

/** Maximum body sizes in bytes, counted as they arrive; beyond them the server answers 413. */
export const bodyLimits = {
  unsubscribe: 4 * 1024, // 4 KiB
  form: 4 * 1024, // 4 KiB
  passkey: 16 * 1024, // 16 KiB
  /** A form of the office: a thousand emails to invite. */
  office: 64 * 1024, // 64 KiB
  webhook: 256 * 1024, // 256 KiB
  mcp: 64 * 1024, // 64 KiB
  write: 32 * 1024, // 32 KiB
  /** A thousand spends of a backend. */
  batch: 1024 * 1024, // 1 MiB
};

/** Maximum pieces (HTTP chunks or packets) per body: a base number, plus one for every 8 bytes. Beyond it, 400. */
export const bodyPieces = { any: 4096, bytesForOneMore: 8 };

/** Formats a number of bytes, for example `4 KiB`. */
export function inKibibytes(bytes: number): string {
  return `${bytes / 1024} KiB`;
}

/** The limits of the request headers, in words. */
export const headBoundsInWords = `${inKibibytes(headBounds.bytes)} or ${headBounds.lines} lines`;

export type TurnBounds = {
  /** Maximum in work: in all, of known browsers or of strangers, and of one network. */
  atOnce: number;
  atOnceOfKnown: number;
  atOnceOfNetwork: number;
  /** The length of the queue: at 5 ms each, the last of a hundred pages waits half a second. */
  waiting: number;
  waitMs: number;
  /** Of the processor: the milliseconds for each one of work until all, or a network, may go on; and what they have ahead. */
  pace?: { all: number; network: number; aheadMs: number };
};

const pagesAtOnce = { atOnce: 4, atOnceOfKnown: 3, atOnceOfNetwork: 2, waiting: 100, waitMs: 5000 };

/** What is done in turns. */
export const turnBounds = {
  pages: pagesAtOnce,
  /** Forms of strangers, which wait for the store. */
  forms: pagesAtOnce,
  /** Calls to Clerk that requests cause: what does not begin at once is answered without. */
  clerkCalls: { atOnce: 20, atOnceOfKnown: 20, atOnceOfNetwork: 5, waiting: 0, waitMs: 0 },
  /** MCP messages that compute: all get a quarter of the processor, a network a twentieth, 20 searches a second. */
  messages: {
    atOnce: 1,
    atOnceOfKnown: 1,
    atOnceOfNetwork: 1,
    waiting: 100,
    waitMs: 5000,
    pace: { all: 4, network: 20, aheadMs: 200 },
  },
} satisfies Record<string, TurnBounds>;

/** Maximum bytes that all counters of a process keep, by estimate; beyond it, the largest forgets who asked longest ago. */
export const maxCounterBytes = 12 * 1024 * 1024; // 12 MiB

/**
 * Maximum clients of an IPv6 /48 that are counted one by one, in ten minutes; its others are one client a /56, 256 at most. A
 * household has one /64 or a few, and a site that uses hundreds does not ask from each.
 */
export const maxClientsOfNetwork = 256;

/** Default rate limits per client address. */
export const quotas = {
  health: { requests: 120, windowSeconds: 60 },
  /** Shared by all paths of the MCP server. */
  mcp: { requests: 60, windowSeconds: 60 },
} as const;

export type QuotaName = keyof typeof quotas;

/**
 * Requests in a window: of one client (a browser that has signed in before, an IPv4 address or an IPv6 /64), of one network
 * (the account of such a browser, an IPv4 address or an IPv6 /48, which one customer may hold), and of all strangers. Browsers
 * that have signed in before have as much in all for themselves. Where addresses are unknown, only the last holds.
 */
export type RateLimit = {
  perClient?: number;
  perNetwork?: number;
  inAll?: number;
  windowSeconds: number;
  /** The error of a refusal; by default `unavailable` with status 429. */
  refusedAs?: { code: "upstream_failed"; message: string; hint: string };
};

const tenMinutes = { windowSeconds: 10 * 60 };
const minute = { windowSeconds: 60 };

/** The requests of a network in a window that count in the half of all that is kept for those who ask for little. */
export const littleOfNetwork = 10;

/** The limits of requests without a published quota. */
export const rateLimits = {
  /** Forms of any kind, and what a page's script sends instead. */
  forms: { perClient: 30, perNetwork: 300, inAll: 6000, ...tenMinutes },
  /** Counted apart, so that no one is kept signed in. */
  signOut: { perClient: 60, perNetwork: 600, inAll: 6000, ...tenMinutes },
  /** Each open page renews its session once a minute. */
  renewals: { perClient: 3000, perNetwork: 12_000, ...tenMinutes },
  /** Challenges for passkeys, which use no store. */
  challenges: { perClient: 120, perNetwork: 1200, ...tenMinutes },
  /** Mail services send for all their users from few addresses, and try again after a 502. */
  unsubscribe: {
    perClient: 600,
    ...minute,
    refusedAs: {
      code: "upstream_failed",
      message:
        "Too many links were used from this address in a minute, so the later emails are not stopped yet.",
      hint: "Use the same link again after the seconds in Retry-After. It stays valid.",
    },
  },
  /** A provider sends from few addresses, and delivers again what was refused. */
  webhooks: { perClient: 6000, ...minute },
  /** Authorization requests: strangers' and owners' in 15 minutes are fewer than `oauthBounds.pendingRows`: none is evicted. */
  connect: { perClient: 300, perNetwork: 1000, inAll: 6000, ...tenMinutes },
  /** Requests of apps, before it is known whether their credential is valid. */
  exchanges: { perClient: 6000, perNetwork: 24_000, ...tenMinutes },
  /** An office of 50 people with six apps each, within ten minutes. */
  registrations: { perClient: 300, perNetwork: 1000, inAll: 6000, ...tenMinutes },
  /** Emails that join the waitlist, in a day. */
  waitlist: { perNetwork: 50, inAll: 5000, windowSeconds: 24 * 60 * 60 },
  /** Emails that owners want for their accounts, in a day; each account has three. */
  emailChanges: { perNetwork: 20, inAll: 2000, windowSeconds: 24 * 60 * 60 },
  /** Pages that are rendered for each request: enough for a whole office behind one address. */
  pages: { perClient: 300, perNetwork: 1200, ...minute },
  clerkCalls: { perClient: 30, perNetwork: 120, inAll: 600, ...minute },
  /** Requests to the backend API, 10,000 a second, before it is known whose they are. */
  backends: { perClient: 600_000, ...minute },
  /** Requests to the operators' office; all behind one proxy or tunnel are one client. */
  office: { perClient: 1200, ...minute },
} as const satisfies Record<string, RateLimit>;

export type RateLimitName = keyof typeof rateLimits;

/** Limits on unauthenticated use of the authorization server, and on what it stores for it. */
export const oauthBounds = {
  windowSeconds: 10 * 60, // 10 minutes, for every limit of `credentials`
  /** Requests per credential that is valid. */
  credentials: {
    Interaction: 20,
    AuthorizationCode: 20,
    /** A device polls every 5 seconds. */
    DeviceCode: 240,
    /** All unused refresh tokens of a session together, because several processes of an app may renew at once; a used one. */
    RefreshToken: 600,
  },
  /** Refresh tokens kept per session, used ones included: 0.5 KB each, and a week of an app that renews hourly. */
  refreshTokens: 200,
  /** Maximum bytes stored per authorization request, without the client id. */
  requestBytes: 2 * 1024,
  /** Maximum bytes of the metadata of a self-registered client, which its id carries. */
  registrationBytes: 1024,
  /** Metadata documents that are not listed and are read for one owner, in `windowSeconds`, within 5 s each. */
  documents: 20,
  documentWithinMs: 5000,
  /** Maximum unanswered authorization requests, and as many device codes: up to 4 KB each, 160 MB in all. */
  pendingRows: 20_000,
};

/** Proofs of possession (RFC 9449), which are remembered as long as they count: 20 a second of each account, 30 MB in all. */
export const proofBounds = {
  /** How old a proof may be, or how far ahead: that of the authorization server's library and of SEP-1932. */
  ageSeconds: 5 * 60,
  ofOwner: 6000,
  inAll: 200_000,
};

/** Limits of the waitlist, which anyone can join. */
export const waitlistBounds = {
  /** Maximum emails that wait for an invitation, 1 KB each. A full list accepts no one, so no one is pushed out. */
  waiting: 50_000,
  /** Above this number of joins in a day, `check` warns that they may not be people. */
  usualJoins: 1000,
};
