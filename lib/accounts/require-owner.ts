import { type Account, parseAccount } from "@/lib/accounts/account";
import { accountAt } from "@/lib/accounts/account-columns";
import { identifyCaller } from "@/lib/accounts/caller";
import { findOwnSession } from "@/lib/auth/sessions/browser-session";
import { isRecentlyConfirmed } from "@/lib/auth/sessions/owner-confirmation";
import { recordBrowserNetwork } from "@/lib/auth/sessions/session-use";
import { bringsToken } from "@/lib/auth/tokens/credential";
import { answersWithinMs } from "@/lib/config/limits";
import { settings } from "@/lib/config/settings";
import { accountBy } from "@/lib/db/account-by";
import { recordAudit } from "@/lib/db/audit";
import { store } from "@/lib/db/store";
import type { Call } from "@/lib/http/call";
import type { CheckOptions } from "@/lib/http/checks/check";
import { ApiError } from "@/lib/http/errors";
import { pages } from "@/lib/http/register/pages";
import { log } from "@/lib/runtime/log";
import { withTimeout } from "@/lib/runtime/timeout";

/** The owner of an account, identified in their own browser. */
export type Owner = {
  account: Account & { subject: string };
  session: { sessionId: string; endsAtMs: number } | undefined;
  clerkSession: string | undefined;
  /** When they have last proved who they are. */
  confirmedAtMs: number | undefined;
  /** Whether that was by something that was mailed to the account's email. */
  isMailProved: boolean;
  /** The owner, or someone who is signed in for them at Clerk and may not grant access. */
  by: "owner" | `impersonator ${string}`;
};

/** What the handler of a route checks whose entry asks for the owner. */
export const byOwner = {
  async identify(call, { takes, notImpersonated }): Promise<Owner> {
    const owner = await requireOwner(call, takes === "form" ? call.field("account") : undefined);
    if (notImpersonated) await rejectImpersonator(owner, notImpersonated, call.nowMs);
    return owner;
  },
  hasProof: ({ confirmedAtMs }, nowMs) => isRecentlyConfirmed(confirmedAtMs, nowMs),
} satisfies CheckOptions<Owner>;

/**
 * Identifies the owner by the browser's own session: by the secret that renews it, or by Clerk's cookie. A program's
 * token is never accepted here, however it is sent: a token must not get its own successor or end another session.
 * Throws an {@link ApiError}.
 *
 * @param shownAccountId - the account that the page showed; the browser may have a different session by now
 */
export async function requireOwner(call: Call, shownAccountId?: string): Promise<Owner> {
  if (bringsToken(call.headers)) throw onlyInBrowser();
  const { account, ...how } = await (settings().signIn.kind === "clerk"
    ? findAtClerk(call)
    : findBySecret(call));
  if (!account?.subject) throw new ApiError("forbidden");
  if (shownAccountId !== undefined && shownAccountId !== account.id) {
    throw new ApiError("forbidden", {
      status: 409,
      message: "You are now signed in to a different account than the page showed.",
      hint: "Open the page again.",
    });
  }
  return { account: { ...account, subject: account.subject }, ...how };
}

/** Rejects someone who is signed in for an owner: they may look, but not grant access. The audit has the attempt. */
export async function rejectImpersonator({ by, account }: Owner, what: string, nowMs: number): Promise<void> {
  if (by === "owner") return;
  await recordAudit(await store(), { by, what, whom: account.email, after: { refused: true } }, nowMs);
  throw new ApiError("forbidden", {
    message: "Only the owner of the account can do this, not someone signed in on their behalf.",
    hint: "Ask the owner to do it.",
  });
}

type Found = Omit<Owner, "account"> & { account: Account | undefined };

async function findAtClerk(call: Call): Promise<Found> {
  const caller = await identifyCaller(call, undefined);
  if (caller.is === "signed-out") throw caller.isBarred ? barred() : new ApiError("signed_out");
  if (caller.is === "unavailable") throw new ApiError("unavailable");
  if (caller.is !== "account") throw new ApiError("forbidden");
  const { account, session } = caller;
  if (session?.kind !== "clerk") throw onlyInBrowser();
  const by = session.actor === undefined ? "owner" : (`impersonator ${session.actor}` as const);
  const { sessionId: clerkSession, confirmedAtMs } = session;
  return { account, session: undefined, clerkSession, confirmedAtMs, isMailProved: false, by };
}

async function findBySecret(call: Call): Promise<Found> {
  const found = await withTimeout(answersWithinMs.store, readOwner(call)).catch((failure) => {
    log().error({ err: failure, requestId: call.requestId }, "an owner could not be read");
    throw new ApiError("unavailable");
  });
  if (!found) throw new ApiError("signed_out");
  if (found.account?.subject) call.subject = found.account.subject;
  return found;
}

/** A secret that was just replaced only renews the token: one who has copied it can do nothing else. */
async function readOwner({ headers, client, nowMs }: Call): Promise<Found | undefined> {
  const db = await store();
  const session = await findOwnSession(db, headers, nowMs);
  if (!session || session.formerUntilMs !== undefined) return undefined;
  recordBrowserNetwork(session.sessionId, session, client, nowMs);
  const row = await accountBy(db, "id", session.accountId).select(accountAt(nowMs)).executeTakeFirst();
  const confirmedAtMs = session.confirmed_at_ms ?? undefined;
  const isMailProved = session.confirmed_by === "code" || session.confirmed_by === "invitation";
  const account = parseAccount(row, nowMs);
  return { account, session, clerkSession: undefined, confirmedAtMs, isMailProved, by: "owner" };
}

function barred(): ApiError {
  return new ApiError("forbidden", {
    reason: "barred",
    message: "Your sign-in is blocked by the people who run this service.",
    hint: "Your account stays as it is. Ask them.",
  });
}

function onlyInBrowser(): ApiError {
  return new ApiError("forbidden", {
    message: "Only the browser in which you signed in can do this.",
    hint: `Open ${settings().appUrl}${pages.home.path} there.`,
  });
}
