import { type Expression, type InferResult, sql } from "kysely";
import { dayMs } from "@/lib/config/durations";
import { sessionDays } from "@/lib/config/lifetimes";
import type { Actor } from "@/lib/db/audit";
import type { Db } from "@/lib/db/store";
import type { Tables } from "@/lib/db/tables";

/*
 * The row of an app's session stays for 30 days after its end: its owner sees that it has ended and why, and the app is
 * told so when it asks for another token.
 */

/** Why an app's session has ended; these are stored, and the other two follow from its ends. */
const storedEndings = ["owner", "operator", "app", "sign-in", "replay", "limit"] as const;
type StoredEnding = (typeof storedEndings)[number];
export type Ending = StoredEnding | "idle" | "last date";

/** What its owner reads about an end. */
export const wordsForOwner: Record<Ending, string> = {
  owner: "you ended it",
  operator: "we ended it for you",
  app: "the app ended it itself",
  "sign-in": "it ended with the sign-in in which you approved it",
  replay:
    "an old token of it was used again, so someone else may have a copy. All its tokens are now invalid. Connect it again only if you trust the device that it runs on",
  limit: "it made room for a newer session",
  idle: `it was not used for ${sessionDays.idle} days`,
  "last date": `its ${sessionDays.app} days were over`,
};

/** What the app is told, for the developer or the agent that reads it, in the characters of RFC 6749 §5.2. */
export const wordsForApp: Record<Ending, string> = {
  owner: "The owner ended this access.",
  operator: "The operator ended this access.",
  app: "The app ended this access itself.",
  "sign-in": "This access ended with the sign-in in which the owner approved it.",
  replay: "A refresh token was used twice, so someone else may have a copy, and this access has ended.",
  limit: "This access ended to make room for a newer session of the account.",
  idle: `This access was not used for ${sessionDays.idle} days.`,
  "last date": `The ${sessionDays.app} days of this access are over.`,
};

/** An app's session that has ended. */
export type EndedApp = ReturnType<typeof toEndedApps>[number];

/** The ending to store, by who ends a session and for what; `undefined` if it never began for its owner. */
export function endingOf({ by, what }: { by: Actor; what: string }): StoredEnding | undefined {
  if (what === "app replay") return "replay";
  if (what === "session limit") return "limit";
  if (by === "clerk") return "sign-in";
  if (by === "app" || by === "owner") return by;
  return by === "service" ? undefined : "operator";
}

type EndedRow = Pick<Tables["local_sessions"], "ended_as" | "expires_at_ms" | "last_date_ms">;

/** Why the session of this row has ended. */
export function readEnding({ ended_as, expires_at_ms, last_date_ms }: EndedRow): Ending {
  const stored = storedEndings.find((ending) => ending === ended_as);
  return stored ?? (expires_at_ms === last_date_ms ? "last date" : "idle");
}

/** The query of an account's apps that ended in the last 30 days, the newest first; {@link toEndedApps} reads its rows. */
export function endedApps(db: Db, accountId: string | Expression<string>, nowMs: number) {
  // In the text, because indexes are about it: SQLite would plan the statement anew each time that it is bound.
  const app = sql.lit("app");
  return db
    .selectFrom("local_sessions")
    .select(["id", "name", "app_origin", "last_seen_at_ms", "expires_at_ms", "last_date_ms", "ended_as"])
    .select("begun_in")
    .where("account_id", "=", accountId)
    .where("kind", "=", app)
    .where("expires_at_ms", "<=", nowMs)
    .where((eb) => eb(eb("expires_at_ms", "+", sessionDays.ended * dayMs), ">", nowMs))
    .orderBy("expires_at_ms", "desc");
}

export function toEndedApps(rows: InferResult<ReturnType<typeof endedApps>>) {
  return rows.map((app) => ({ ...app, name: app.name ?? "An app", ending: readEnding(app) }));
}
