/** What the authorization server hands out, and how long each lives, in seconds. */
export const lifetimes = {
  /** Until its owner has answered what an app asks: 15 minutes. */
  request: 15 * 60,
  /** Until a device's code is typed: 10 minutes. */
  deviceCode: 10 * 60,
  /** Until an app has redeemed its code: 1 minute. */
  code: 60,
  /** 1 hour, as every session token. */
  accessToken: 60 * 60,
  /** A browser's week, from its owner's approval: an app's session, and what renews its tokens. */
  session: 7 * 24 * 60 * 60,
  /** A client that has registered, until an owner lets it in: 1 day. */
  unusedClient: 24 * 60 * 60,
  /** A client that has registered, after an owner last let it in: 90 days, so that it finds its way back. */
  usedClient: 90 * 24 * 60 * 60,
} as const;
