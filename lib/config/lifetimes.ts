import { dayMs } from "@/lib/config/durations";

/** Lifetimes of sessions, in days. Use moves their end (`auth/sessions/session-use.ts`); a browser's token lasts a minute. */
export const sessionDays = {
  /** Without use. */
  idle: 30,
  /** A browser's at most, from its sign-in on. */
  browser: 90,
  /** An app's at most, from its owner's last word on: the approval, or "Keep all". */
  app: 180,
  /** How long its owner sees that an app's session has ended, and the app is told why. */
  ended: 30,
} as const;

/** The ends of a session that its owner starts or confirms now, as its row stores them. */
export function endsFrom(kind: "browser" | "app", nowMs: number) {
  return {
    expires_at_ms: nowMs + sessionDays.idle * dayMs,
    last_date_ms: nowMs + sessionDays[kind] * dayMs,
  };
}

/** How long what a mail brings works: a code, a long code, the links of an invitation and of the waitlist. */
export const codeMinutes = 10;
export const longCodeHours = 6;
export const invitationDays = 14;
export const confirmationDays = 30;

const daySeconds = 24 * 60 * 60;

/** Lifetimes of everything that the authorization server issues, in seconds. */
export const oauthSeconds = {
  /** Time to answer an app's request: 15 minutes. */
  request: 15 * 60,
  /** Time to type a device code: 10 minutes. */
  deviceCode: 10 * 60,
  /** Time for an app to redeem its authorization code, which its browser may first have to open it with: 5 minutes. */
  code: 5 * 60,
  /** 1 hour, like every session token. */
  accessToken: 60 * 60,
  /** A refresh token: 30 days, in which its session ends without use, and 30 in which the app is told why it ended. */
  refreshToken: (sessionDays.idle + sessionDays.ended) * daySeconds,
  /** An owner's grant: as long as its session lasts at most, and the 30 days after. */
  grant: (sessionDays.app + sessionDays.ended) * daySeconds,
  /** How long a used refresh token can be used again although a successor was used, from its first use on: 1 minute. */
  refreshTokenReuse: 60,
  /**
   * A registered client, after it registered and after each approval: as long as a grant. Most apps keep their id for good and do
   * not register again when it has expired (anthropics/claude-code#84614, MoonshotAI/kimi-code#2606, punkpeye/mcp-remote#36).
   */
  registeredClient: (sessionDays.app + sessionDays.ended) * daySeconds,
  /** What the metadata document of a client says that no owner has approved: 1 day, and then it is read again. */
  unapprovedDocument: daySeconds,
} as const;

/** How long events are kept for the operator's systems. */
export const eventDays = 30;

/** How long it is kept what a webhook was sent and what its receiver said. */
export const deliveryDays = 7;

/** How many days it is kept what apps were told. */
export const answerDays = 30;

/** How long an event is tried, and a receiver that accepts none. */
export const webhookTriedDays = 3;

/** How long the former secret of a webhook signs too after a rotation. */
export const formerSecretHours = 24;
