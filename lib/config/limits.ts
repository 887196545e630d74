/** Of the request line and the headers of one request together; past them it is a 431. */
export const headBounds = { bytes: 16 * 1024, lines: 100 };

/** What one connection may cost us, by Node's names. Past a limit it gets 431 or 408 in our shape and is closed. */
export const connectionLimits = {
  maxHeaderSize: headBounds.bytes,
  /** For the headers of a request: 10 s. */
  headersTimeout: 10_000,
  /** For the whole of a request, its body included: 30 s. */
  requestTimeout: 30_000,
  /** Between two requests: 65 s, longer than the usual proxy keeps a connection. */
  keepAliveTimeout: 65_000,
  /** How often the two time-outs above are looked at. */
  connectionsCheckingInterval: 1000,
};

/** From the head of a request until its answer was taken, to the last byte: 45 s. Past it the connection is broken off. */
export const exchangeWithinMs = 45_000;

/** What a client still sends after the last answer of its connection is discarded for 2 s, then the connection is broken off. */
export const discardWithinMs = 2000;

/** Connections at once, for all and for one client address: some eighty browsers behind one router. Past it the longest idle is closed. */
export const connectionBounds = { most: 10_000, perAddress: 512 };

/** Bytes of a body, counted as they come; past them it is a 413. */
export const bodyLimits = {
  unsubscribe: 4 * 1024, // 4 KiB
  form: 4 * 1024, // 4 KiB
  webhook: 256 * 1024, // 256 KiB
  mcp: 64 * 1024, // 64 KiB
};

/** Pieces that a body may come in, HTTP chunks or packets: so many, and one more for each 8 bytes. Past them, 400. */
export const bodyPieces = { any: 4096, bytesForOneMore: 8 };

/** A bound as people read it. */
export function inKibibytes(bytes: number): string {
  return `${bytes / 1024} KiB`;
}

/** The bounds of a head as people read them. */
export const headBoundsInWords = `${inKibibytes(headBounds.bytes)} or ${headBounds.lines} lines`;

/** Pages rendered at once, for all and for one client address, and how many requests wait for their turn. */
export const renderConcurrency = {
  atOnce: 4,
  atOncePerClient: 2,
  waiting: 200,
  waitingPerClient: 40,
  waitMs: 5000,
};

/** Rendered pages that one client address may ask for: wide enough for any person, and for an office of them. */
export const renderRateLimit = { requests: 300, windowSeconds: 60 };

/**
 * What Next sees of a request: the headers that it, Clerk and our pages read, each cut to what it needs, and so much of
 * cookies and query. In the length of each of these three its time grows with the square: 15 KB cost it a second or two.
 */
export const handedOn = {
  characters: {
    accept: 512,
    "accept-encoding": 256,
    "accept-language": 512,
    authorization: 9 * 1024, // a token, which may have 8 KiB
    cookie: headBounds.bytes,
    origin: 512,
    referer: 2048,
    "if-match": 1024,
    "if-modified-since": 64,
    "if-none-match": 1024,
    "if-range": 256,
    range: 256,
    "user-agent": 256,
    "x-request-id": 128,
    "sec-fetch-dest": 32,
    "sec-fetch-mode": 32,
    "sec-fetch-site": 32,
    "sec-fetch-user": 32,
    rsc: 16,
    "next-router-prefetch": 16,
    "next-router-segment-prefetch": 512,
    "next-router-state-tree": 8 * 1024,
    "next-url": 1024,
  },
  /** Of a POST, these too. */
  charactersOfPost: { "content-type": 256, "next-action": 128 },
  /** Clerk has some ten, we have seven. */
  cookies: 32,
  /** Of a query; the authorization server's library sees no more either. */
  parameters: 64,
};

/** Requests that one client address may make in a window, where nothing else is set. */
export const quotas = {
  health: { requests: 120, windowSeconds: 60 },
  /** Shared by `/mcp` and `/api/mcp`. */
  mcp: { requests: 60, windowSeconds: 60 },
} as const;

export type QuotaName = keyof typeof quotas;

/** What strangers may ask of the authorization server, and what it keeps of them. */
export const oauthBounds = {
  windowSeconds: 10 * 60, // 10 minutes, of each allowance
  /** Requests to be let in, from one client address, and from all that cannot be told apart. */
  requests: { ofOne: 300, ofAllUnknown: 3000 },
  /** With one device's code, which is asked about every 5 seconds. */
  polls: 240,
  /** With one session's codes and refresh tokens: an access token lives an hour. */
  refreshes: 20,
  /** Bytes of one request that are kept, besides its client's id. */
  requestBytes: 2 * 1024,
  /** Bytes of what a client that registers says of itself, which its id carries. */
  registrationBytes: 1024,
  /** Requests that no owner has answered, and as many device codes: of 4 KB at most each, so 160 MB in all. */
  pendingRows: 20_000,
};

/** What strangers may do to the waitlist. */
export const waitlistBounds = {
  /** Emails that are not invited, of about 1 KB each at most; past them nobody joins: who waits is pushed out by no stranger. */
  waiting: 50_000,
  /** Joins in a day from one network, an IPv4 address or an IPv6 /48, and from all that cannot be told apart. */
  joins: { ofOne: 50, ofAllUnknown: 2000, windowSeconds: 24 * 60 * 60 },
  /** Joins of the last day past which `check` asks whether these are people. */
  usualJoins: 1000,
};
