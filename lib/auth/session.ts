import { randomBytes } from "node:crypto";
import type { Db } from "@/lib/db/store";
import type { Tables } from "@/lib/db/tables";

/** A session in our store. With Clerk, Clerk itself keeps the sessions of browsers. */
export type Session = {
  id: string;
  /** A browser renews its token; a program's session ends with it; an app renews it at the authorization server. */
  kind: SessionKind;
  /** The name that the owner sees. An app's is its own words. */
  name: string;
  /** What was verified of an app; `null` for others, and for apps that an older build connected. */
  origin: string | null;
  /** Unknown for sessions that an older build started, as are the next two. */
  begunAtMs: number | null;
  isOperators: boolean;
  startedIn: StartedIn;
  /** Accurate to an hour; `null` until the session is used. */
  lastSeenAtMs: number | null;
  /** The session is valid before this instant. Use moves it, at most to its last date. */
  endsAtMs: number;
  /** `null` if no use moves the end. */
  lastDateMs: number | null;
  /** When `GET /api/entitlement` last answered an app, accurate to a minute, and the status that it told. */
  checkedAtMs: number | null;
  told: string | null;
  /** When and by which way the owner last proved in this browser who they are; `null` if unknown. */
  confirmedAtMs: number | null;
  confirmedBy: string | null;
};

/** A way to prove in a browser who one is. */
export type Confirmation = "code" | "passkey" | "invitation";

/** Where a session was started, as its owner sees it; `null` if that is not known. */
export type StartedIn = { browser: string | null; network: string | null };

const sessionKinds = ["browser", "program", "app"] as const;

export type SessionKind = (typeof sessionKinds)[number];

/** Lifetime of a program's session and of its token: long enough to reach its next check. */
export const programTokenSeconds = 60 * 60; // 1 hour

/** Makes a subject for an account that has none from Clerk. */
export function mintLocalSubject(): string {
  return `user_${randomBytes(16).toString("hex")}`;
}

/** The ends of a session, and its last use; `undefined` if it has ended. */
export function findCurrentSession(db: Db, id: string, nowMs: number) {
  return currentSessions(db, nowMs).where("id", "=", id).executeTakeFirst();
}

/** The current sessions of an account, newest first. */
export async function listSessions(db: Db, accountId: string, nowMs: number): Promise<Session[]> {
  const rows = await currentSessions(db, nowMs).where("account_id", "=", accountId).execute();
  return toSessions(rows);
}

/** The query of all sessions that have not expired; {@link toSessions} reads its rows. */
export function currentSessions(db: Db, nowMs: number) {
  return db
    .selectFrom("local_sessions")
    .select(["id", "kind", "name", "begun_at_ms", "begun_by", "begun_in", "network", "last_seen_at_ms"])
    .select(["expires_at_ms", "confirmed_at_ms", "confirmed_by", "client_hash", "app_origin"])
    .select(["last_date_ms", "checked_at_ms", "told"])
    .where("expires_at_ms", ">", nowMs)
    .where("ended_as", "is", null)
    .orderBy("expires_at_ms", "desc");
}

type SessionRow = Omit<
  Tables["local_sessions"],
  | "account_id"
  | "made_in"
  | "clerk_session"
  | "end_mail_at_ms"
  | "former_hash"
  | "former_until_ms"
  | "ended_as"
>;

export function toSessions(rows: SessionRow[]): Session[] {
  return rows
    .map((row) => {
      const kind = readKind(row);
      return {
        id: row.id,
        kind,
        name: row.name ?? (kind === "browser" ? "A browser" : "A token"),
        origin: row.app_origin,
        begunAtMs: row.begun_at_ms,
        isOperators: row.begun_by === "operator",
        startedIn: { browser: row.begun_in, network: row.network },
        lastSeenAtMs: row.last_seen_at_ms,
        endsAtMs: row.expires_at_ms,
        lastDateMs: row.last_date_ms,
        checkedAtMs: row.checked_at_ms,
        told: row.told,
        confirmedAtMs: row.confirmed_at_ms,
        confirmedBy: row.confirmed_by,
      };
    })
    .sort((one, other) => (other.begunAtMs ?? 0) - (one.begunAtMs ?? 0));
}

/** The kind of a session; it is derived for rows of builds that stored none. */
export function readKind(row: Pick<Tables["local_sessions"], "kind" | "client_hash">): SessionKind {
  return sessionKinds.find((kind) => kind === row.kind) ?? (row.client_hash === null ? "program" : "browser");
}

export function mintSessionId(): string {
  return `sess_${randomBytes(16).toString("hex")}`;
}
