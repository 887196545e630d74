import { sql } from "kysely";
import type { ClerkSettings } from "@/lib/config/clerk-settings";
import { hourMs } from "@/lib/config/durations";
import { invitationDays } from "@/lib/config/lifetimes";
import { answersWithinMs } from "@/lib/config/limits";
import { settings } from "@/lib/config/settings";
import type { Db } from "@/lib/db/store";
import { ApiError } from "@/lib/http/errors";
import { pages } from "@/lib/http/register/pages";
import { loadLibrary } from "@/lib/runtime/load-library";
import { withTimeout } from "@/lib/runtime/timeout";

/** Invitations an hour. */
export const clerkTakes = 100;

/** In how many hours Clerk takes another invitation: 0 while it takes one now. */
export async function hoursUntilClerkTakes(db: Db, nowMs: number): Promise<number> {
  const count = sql<number>`count(*)`.as("count");
  const waiting = db.selectFrom("sign_in_mails").select(count).where("kind", "=", "clerk invitation");
  const sent = db
    .selectFrom("sign_in_mail_attempts")
    .select(count)
    .where("kind", "=", "clerk invitation")
    .where("state", "=", "sent")
    .where("at_ms", ">", nowMs - hourMs);
  const counts = await Promise.all([waiting.executeTakeFirstOrThrow(), sent.executeTakeFirstOrThrow()]);
  const before = counts.reduce((sum, row) => sum + Number(row.count), 0);
  return Math.floor(before / clerkTakes);
}

/**
 * Creates an invitation at Clerk, which mails a link to our page `/invitation`. Returns the link. Throws an
 * {@link ApiError} when Clerk refuses or does not answer in time.
 */
export async function createClerkInvitation(email: string): Promise<string> {
  const invitation = {
    emailAddress: email,
    redirectUrl: `${settings().appUrl}${pages.invitation.path}`,
    expiresInDays: invitationDays,
    ignoreExisting: true,
  };
  const { clerkClient } = await loadLibrary(() => import("@/lib/runtime/clerk-client"));
  const calling = clerkClient(settings().signIn as ClerkSettings).invitations.createInvitation(invitation);
  const { url } = await withTimeout(answersWithinMs.clerkInvitation, calling).catch((failure) => {
    const Refusal = failure?.status === 429 ? ClerkIsBusy : ApiError;
    throw new Refusal("upstream_failed", explain(describeFailure(failure)));
  });
  if (!url) throw new ApiError("upstream_failed", explain("Clerk returned no link."));
  return url;
}

/** Clerk has taken as many invitations as it takes in an hour. */
export class ClerkIsBusy extends ApiError {}

function explain(message: string) {
  const hint = "Try again; if it happens again, look at Clerk's dashboard and status page.";
  return { message, hint };
}

type ClerkFailure = { status?: number; errors?: { message: string; longMessage?: string }[] };

function describeFailure({ status, errors }: ClerkFailure): string {
  if (status === undefined) return "Clerk could not be reached, or did not answer in time.";
  if (status === 401 || status === 403) return "Clerk does not accept our CLERK_SECRET_KEY.";
  if (status === 429) return "We sent Clerk too many requests.";
  if (status >= 500) return `Clerk failed (${status}).`;
  const [error] = errors ?? [];
  return `Clerk refused (${status}): ${(error?.longMessage ?? error?.message ?? "no reason given").replace(/\.$/, "")}.`;
}
