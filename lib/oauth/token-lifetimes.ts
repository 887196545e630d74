import { sessionDays } from "@/lib/config/session-lifetimes";

const daySeconds = 24 * 60 * 60;

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
  /** A refresh token: 30 days, in which its session ends without use, and 30 in which the app is told why it ended. */
  refreshToken: (sessionDays.idle + sessionDays.ended) * daySeconds,
  /** An owner's grant: as long as its session lasts at most, and the 30 days after. */
  grant: (sessionDays.app + sessionDays.ended) * daySeconds,
  /** How long a used refresh token can be used again although a successor was used, from its first use on: 1 minute. */
  refreshTokenReuse: 60,
  /** A registered client that no owner has approved: 1 day. */
  unusedClient: daySeconds,
  /** A registered client after its last approval: as long as a grant, so that it can connect again without registering. */
  usedClient: (sessionDays.app + sessionDays.ended) * daySeconds,
} as const;
