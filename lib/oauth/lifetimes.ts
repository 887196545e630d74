/** Lifetimes of everything that the authorization server issues, in seconds. */
export const lifetimes = {
  /** Time to answer an app's request: 15 minutes. */
  request: 15 * 60,
  /** Time to type a device code: 10 minutes. */
  deviceCode: 10 * 60,
  /** Time for an app to redeem its authorization code: 1 minute. */
  code: 60,
  /** 1 hour, like every session token. */
  accessToken: 60 * 60,
  /** An app's session, from its owner's last word on, and its refresh tokens: 7 days, like a browser's session. */
  session: 7 * 24 * 60 * 60,
  /** How long a used refresh token can be used again although a successor was used, from its first use on: 1 minute. */
  refreshTokenReuse: 60,
  /** A registered client that no owner has approved: 1 day. */
  unusedClient: 24 * 60 * 60,
  /** A registered client after its last approval: 90 days, so that it can connect again without registering. */
  usedClient: 90 * 24 * 60 * 60,
} as const;
