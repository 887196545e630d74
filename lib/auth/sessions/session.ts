import { randomBytes } from "node:crypto";
import type { InferResult } from "kysely";
import { readNetworks } from "@/lib/auth/sessions/session-network";
import { frequentStatement } from "@/lib/db/frequent-statement";
import type { Db } from "@/lib/db/store";
import type { Tables } from "@/lib/db/tables";

/** A way to prove in a browser who one is. */
export type Confirmation = "code" | "passkey" | "invitation";

const sessionKinds = ["browser", "program", "app"] as const;

export type SessionKind = (typeof sessionKinds)[number];

/**
 * The kind of the row of an app that its owner approved and that was sent nothing yet. It ends like the other sessions of
 * its owner, and is shown to no one: the app's session starts in its place.
 */
export const approvedKind = "approved";

/** Lifetime of a program's session and of its token: long enough to reach its next check. */
export const programTokenSeconds = 60 * 60; // 1 hour

/** Makes a subject for an account that has none from Clerk. */
export function mintLocalSubject(): string {
  return `user_${randomBytes(16).toString("hex")}`;
}

/** The kind and the ends of a session, its last use and where it was renewed from. */
export type SessionState = Pick<
  Tables["local_sessions"],
  "kind" | "expires_at_ms" | "last_date_ms" | "last_seen_at_ms" | "renewed_from" | "bound_at_ms"
>;

/** The state of a session; `undefined` if it has ended. */
export async function findCurrentSession(
  db: Db,
  id: string,
  nowMs: number,
): Promise<SessionState | undefined> {
  return (await readCurrentSession(db, id, nowMs)).rows[0];
}

const readCurrentSession = frequentStatement((db, id: string, nowMs: number) =>
  currentSessions(db, nowMs)
    .where("id", "=", id)
    .clearSelect()
    .select(["kind", "expires_at_ms", "last_date_ms", "last_seen_at_ms", "renewed_from", "bound_at_ms"]),
);

/** The current sessions of an account, newest first. */
export async function listSessions(db: Db, accountId: string, nowMs: number): Promise<Session[]> {
  return toSessions((await readSessions(db, accountId, nowMs)).rows);
}

const readSessions = frequentStatement((db, accountId: string, nowMs: number) =>
  currentSessions(db, nowMs).where("account_id", "=", accountId),
);

/** The query of all sessions that have not expired; {@link toSessions} reads its rows. `Tables` says what each column is. */
export function currentSessions(db: Db, nowMs: number) {
  return db
    .selectFrom("local_sessions")
    .select([
      "id",
      "kind",
      "client_hash",
      "name",
      "app_origin",
      "begun_at_ms",
      "begun_by",
      "begun_in",
      "network",
    ])
    .select(["last_seen_at_ms", "expires_at_ms", "last_date_ms", "checked_at_ms", "told", "renewed_from"])
    .select(["in_turn_since_ms", "bound_at_ms", "confirmed_at_ms", "confirmed_by"])
    .where("expires_at_ms", ">", nowMs)
    .where("ended_as", "is", null)
    .orderBy("expires_at_ms", "desc");
}

/** A session in our store. With Clerk, Clerk itself keeps the sessions of browsers. */
export type Session = ReturnType<typeof toSessions>[number];

export function toSessions(rows: InferResult<ReturnType<typeof currentSessions>>) {
  return rows
    .filter(({ kind }) => kind !== approvedKind)
    .map(({ client_hash, begun_by, begun_in, network, renewed_from, ...row }) => {
      /** A browser renews its token; a program's session ends with it; an app renews it at the authorization server. */
      const kind = readKind({ kind: row.kind, client_hash });
      return {
        ...row,
        kind,
        /** The name that the owner sees. An app's is its own words. */
        name: row.name ?? (kind === "browser" ? "A browser" : "A token"),
        isOperators: begun_by === "operator",
        startedIn: { browser: begun_in, network },
        /** The networks that an app got its last tokens from, or a browser went to and fro between, each once, the last first. */
        renewedFrom: [...new Set(readNetworks(renewed_from))],
      };
    })
    .sort((one, other) => (other.begun_at_ms ?? 0) - (one.begun_at_ms ?? 0));
}

/** The kind of a session; it is derived for rows of builds that stored none. */
export function readKind(row: Pick<Tables["local_sessions"], "kind" | "client_hash">): SessionKind {
  return sessionKinds.find((kind) => kind === row.kind) ?? (row.client_hash === null ? "program" : "browser");
}

export function mintSessionId(): string {
  return `sess_${randomBytes(16).toString("hex")}`;
}
