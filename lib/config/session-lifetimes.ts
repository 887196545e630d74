import { dayMs } from "@/lib/config/durations";

/** Lifetimes of sessions, in days. Use moves their end (`auth/session-use.ts`); a browser's token lasts a minute. */
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
