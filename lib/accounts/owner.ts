import { type Account, parseAccount } from "@/lib/accounts/account";
import { identifyCaller } from "@/lib/accounts/caller";
import { findBrowserSession } from "@/lib/auth/browser-session";
import { settings } from "@/lib/config/settings";
import { recordAudit } from "@/lib/db/audit";
import { queryTimeoutMs, store } from "@/lib/db/store";
import { readCookie } from "@/lib/http/cookies";
import { ApiError } from "@/lib/http/errors";
import type { RequestContext } from "@/lib/http/request-context";
import { log } from "@/lib/runtime/log";
import { withTimeout } from "@/lib/runtime/timeout";

/** Whose account it is, at a browser of theirs. */
export type Owner = {
  account: Account & { subject: string };
  /** The browser's session, where we keep it. */
  session: { sessionId: string; endsAtMs: number } | undefined;
  /** The id of the browser's session, where Clerk keeps it. */
  clerkSession: string | undefined;
  /** The owner; or who is signed in for them at Clerk, which does not make anything theirs to hand out. */
  by: "owner" | `impersonator ${string}`;
};

type RequestingClient = { headers: Headers; context: RequestContext; nowMs: number };

/**
 * The owner of an account, proven by a browser's own session: by the secret that renews it, or by Clerk's cookie. What
 * a program was given proves nothing here, however it is sent: a token must not buy its successor, nor end another's
 * session. Throws an {@link ApiError}.
 *
 * @param shownAccountId - of the account that the page named to whoever pressed a button on it: the browser may have
 *   another's session since, or another cookie than the one that the page went by
 */
export async function requireOwner(client: RequestingClient, shownAccountId?: string): Promise<Owner> {
  if (client.headers.has("authorization")) throw onlyInBrowser();
  const { account, ...how } = await (settings().signIn.kind === "clerk"
    ? findAtClerk(client)
    : findBySecret(client));
  if (!account?.subject) throw new ApiError("forbidden");
  if (shownAccountId !== undefined && shownAccountId !== account.id) throw anotherAccount();
  return { account: { ...account, subject: account.subject }, ...how };
}

/**
 * Refuses who is signed in for an owner (impersonation): whoever helps may look, and lets nobody in. That it was tried
 * is written down.
 */
export async function requireThemselves({ by, account }: Owner, what: string, nowMs: number): Promise<void> {
  if (by === "owner") return;
  await recordAudit(await store(), { by, what, whom: account.email, after: { refused: true } }, nowMs);
  throw new ApiError("forbidden", {
    message: "Only the owner of the account does this, not who is signed in for them.",
    hint: "Ask the owner to do it.",
  });
}

type Found = Omit<Owner, "account"> & { account: Account | undefined };

const nobody = { account: undefined, session: undefined, clerkSession: undefined, by: "owner" } as const;

async function findAtClerk({ headers, context, nowMs }: RequestingClient): Promise<Found> {
  const caller = await identifyCaller(headers, context, undefined, nowMs);
  if (caller.is === "signed-out") throw new ApiError("signed_out");
  if (caller.is === "unavailable") throw new ApiError("unavailable");
  if (caller.is !== "account") return nobody;
  const { account, session } = caller;
  if (session.kind !== "clerk") throw onlyInBrowser();
  const by = session.actor === undefined ? "owner" : (`impersonator ${session.actor}` as const);
  return { account, session: undefined, clerkSession: session.sessionId, by };
}

async function findBySecret({ headers, context, nowMs }: RequestingClient): Promise<Found> {
  const secret = readCookie(headers, "office-client");
  const found = secret && (await withTimeout(queryTimeoutMs, readOwner(secret, nowMs)).catch(fail));
  if (!found) throw new ApiError("signed_out");
  if (found.account?.subject) context.subject = found.account.subject;
  return found;

  function fail(failure: unknown): never {
    log().error({ err: failure, requestId: context.requestId }, "an owner could not be read");
    throw new ApiError("unavailable");
  }
}

async function readOwner(secret: string, nowMs: number): Promise<Found | undefined> {
  const db = await store();
  const session = await findBrowserSession(db, secret, nowMs);
  if (!session) return undefined;
  const row = await db
    .selectFrom("accounts")
    .selectAll()
    .where("id", "=", session.accountId)
    .executeTakeFirst();
  return { ...nobody, account: parseAccount(row), session };
}

function onlyInBrowser(): ApiError {
  return new ApiError("forbidden", {
    message: "Only the browser in which you signed in does this.",
    hint: "Open /home there.",
  });
}

/** 409: the page it was pressed on shows something that is not so any longer. */
function anotherAccount(): ApiError {
  return new ApiError("forbidden", {
    status: 409,
    message: "Another account is signed in here than the page showed.",
    hint: "Open the page again.",
  });
}
