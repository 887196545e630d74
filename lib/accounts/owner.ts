import { type Account, parseAccount } from "@/lib/accounts/account";
import { identifyCaller } from "@/lib/accounts/caller";
import { readCookie } from "@/lib/api/cookies";
import { ApiError } from "@/lib/api/errors";
import type { Visit } from "@/lib/api/visit";
import { within } from "@/lib/process/deadline";
import { log } from "@/lib/process/log";
import { findBrowserSession } from "@/lib/session/browser-session";
import { settings } from "@/lib/settings/settings";
import { deadlineMs, store } from "@/lib/store/store";

/** Whose account it is, at a browser of theirs. */
export type Owner = {
  account: Account & { subject: string };
  /** The browser's session, where we keep it; Clerk keeps its own. */
  session: { sessionId: string; endsAtMs: number } | undefined;
};

type Asking = { headers: Headers; visit: Visit; nowMs: number };

/**
 * The owner of an account, proven by a browser's own session: by the secret that renews it, or by Clerk's cookie. What
 * a program was given proves nothing here, however it is sent: a token must not buy its successor, nor end another's
 * session. Throws an {@link ApiError}.
 */
export async function requireOwner(asking: Asking): Promise<Owner> {
  if (asking.headers.has("authorization")) throw onlyInBrowser();
  const { account, session } = await (settings().signIn.kind === "clerk"
    ? findAtClerk(asking)
    : findBySecret(asking));
  if (!account?.subject) throw new ApiError("forbidden");
  return { account: { ...account, subject: account.subject }, session };
}

type Found = { account: Account | undefined; session: Owner["session"] };

async function findAtClerk({ headers, visit, nowMs }: Asking): Promise<Found> {
  const caller = await identifyCaller(headers, visit, undefined, nowMs);
  if (caller.is === "signed-out") throw new ApiError("signed_out");
  if (caller.is === "unavailable") throw new ApiError("unavailable");
  if (caller.is !== "account") return { account: undefined, session: undefined };
  if (caller.session.kind !== "clerk") throw onlyInBrowser();
  return { account: caller.account, session: undefined };
}

async function findBySecret({ headers, visit, nowMs }: Asking): Promise<Found> {
  const secret = readCookie(headers, "office-client");
  const found = secret && (await within(deadlineMs, readOwner(secret, nowMs)).catch(fail));
  if (!found) throw new ApiError("signed_out");
  if (found.account?.subject) visit.subject = found.account.subject;
  return found;

  function fail(failure: unknown): never {
    log().error({ err: failure, requestId: visit.requestId }, "an owner could not be read");
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
  return { account: parseAccount(row), session };
}

function onlyInBrowser(): ApiError {
  return new ApiError("forbidden", {
    message: "Only the browser in which you signed in does this.",
    hint: "Open /home there.",
  });
}
