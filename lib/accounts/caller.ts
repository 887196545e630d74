import { type Account, parseAccount } from "@/lib/accounts/accounts";
import type { Visit } from "@/lib/api/visit";
import { within } from "@/lib/process/deadline";
import { log } from "@/lib/process/log";
import { sessionIssuer } from "@/lib/session/issuer";
import { readSession } from "@/lib/session/session";
import type { Session } from "@/lib/session/session-token";
import { deadlineMs, store } from "@/lib/store/store";

/** Who is calling an account route, or why nobody can say. */
export type Caller =
  | { is: "account"; account: Account; session: Session }
  /** Signed in, but the account's record is absent or does not parse. */
  | { is: "unreadable" }
  | { is: "signed-out"; tokenWasSent: boolean }
  | { is: "unconfigured" }
  | { is: "unavailable"; retryAfterSeconds: number };

const retryAfterSeconds = 5;

/** Identifies the caller by one signature check and one read. It never throws: an outage is `unavailable`. */
export async function identifyCaller(headers: Headers, visit: Visit): Promise<Caller> {
  const session = readSession(headers);
  if ("because" in session) {
    if (session.because === "sign-in is not set up") return { is: "unconfigured" };
    return { is: "signed-out", tokenWasSent: session.because === "the token is not valid" };
  }
  visit.subject = session.subject;
  try {
    const row = await within(deadlineMs, readAccountRow(session));
    if (row?.hasEnded) return { is: "signed-out", tokenWasSent: true };
    const account = parseAccount(row);
    return account ? { is: "account", account, session } : { is: "unreadable" };
  } catch (failure) {
    log().error({ err: failure, requestId: visit.requestId }, "an account could not be read");
    return { is: "unavailable", retryAfterSeconds };
  }
}

async function readAccountRow({ subject, sessionId }: Session) {
  const db = await store();
  const account = db.selectFrom("accounts").selectAll("accounts").where("accounts.subject", "=", subject);
  if (!sessionIssuer()?.keepsSessions) return { ...(await account.executeTakeFirst()), hasEnded: false };
  const row = await account
    .leftJoin("local_sessions", (join) =>
      join.onRef("local_sessions.account_id", "=", "accounts.id").on("local_sessions.id", "=", sessionId),
    )
    .select("local_sessions.id as session_id")
    .executeTakeFirst();
  return row && { ...row, hasEnded: row.session_id === null };
}
