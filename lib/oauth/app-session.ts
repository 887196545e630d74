import { endSession } from "@/lib/auth/session";
import type { Db } from "@/lib/db/store";

const prefix = "sess_";

/** The id of the session that belongs to a grant. */
export function appSessionId(grantId: string): string {
  return prefix + grantId;
}

/** The grant to which an app's session belongs. */
export function grantOfSession(sessionId: string): string {
  return sessionId.slice(prefix.length);
}

/** Why an app's session ends, as the audit says it: the app revoked a token, or used one that was used before. */
export type AppEnd = "app end" | "app replay";

/** Ends the session of a grant, so that all its tokens are refused. */
export function endAppSession(db: Db, grantId: string, what: AppEnd, nowMs: number): Promise<void> {
  return endSession(db, { by: "app", what }, appSessionId(grantId), nowMs);
}
