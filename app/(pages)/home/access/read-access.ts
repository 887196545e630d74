import type { Account } from "@/lib/accounts/account";
import { declinedOffers, type Passkey, passkeysOf } from "@/lib/auth/passkeys/passkeys";
import { endedApps, toEndedApps } from "@/lib/auth/sessions/ended-app";
import { currentSessions, toSessions } from "@/lib/auth/sessions/session";
import { nameProgram, withDistinctNames } from "@/lib/auth/sessions/session-name";
import { countCrowdedOut, crowdedOut } from "@/lib/auth/sessions/session-start";
import { dayMs } from "@/lib/config/durations";
import { settings } from "@/lib/config/settings";
import { frequentStatement } from "@/lib/db/frequent-statement";
import { parseLists, selectLists } from "@/lib/db/read-in-one-query";
import { readPart } from "../../read-part";

export type Access = NonNullable<Awaited<ReturnType<typeof readAccess>>>;

/** An account's passkeys, and whether its owner has put the offer of one away. */
export type SignInMethods = { passkeys: Passkey[]; hasDeclined: boolean };

/**
 * Reads who and what can act for an account: its sessions, the apps that have ended, and our own ways to sign in, where they
 * are on; `undefined` if that fails.
 */
export function readAccess({ id, email, time_zone }: Account, nowMs: number) {
  return readPart("sessions could not be listed", async (db) => {
    const rows = parseLists(await readRows(db, id, email, nowMs, nowMs - dayMs));
    const { sessions, ended, crowded, passkeys, declined } = rows;
    const ways: SignInMethods = { passkeys, hasDeclined: declined.length > 0 };
    return {
      sessions: withDistinctNames(toSessions(sessions), time_zone),
      endedApps: toEndedApps(ended).map((app) => nameProgram(app, app.begun_in)),
      crowdedOut: countCrowdedOut(crowded),
      ways: settings().signIn.kind === "local" ? ways : undefined,
    };
  });
}

const readRows = frequentStatement((db, id: string, email: string, nowMs: number, crowdedSinceMs: number) =>
  selectLists(db, {
    sessions: currentSessions(db, nowMs).where("account_id", "=", id),
    ended: endedApps(db, id, nowMs),
    crowded: crowdedOut(db, email, crowdedSinceMs),
    passkeys: passkeysOf(db, id),
    declined: declinedOffers(db, id),
  }),
);
