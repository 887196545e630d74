import { dayMs } from "@/lib/config/durations";
import { invitationDays } from "@/lib/config/lifetimes";
import { settings } from "@/lib/config/settings";
import { hasRow } from "@/lib/db/has-row";
import type { Db } from "@/lib/db/store";
import { pages } from "@/lib/http/register/pages";
import { isKeyedHash, keyedHash } from "@/lib/runtime/keyed-hash";
import { hashSecret } from "@/lib/runtime/secret";

export const invitationMs = invitationDays * dayMs;

/** Why an invitation cannot be accepted. */
export type InvitationProblem = "unknown" | "used" | "expired";

/** The address of the page that accepts an invitation. */
export function invitationUrl(token: string): string {
  return `${settings().appUrl}${pages.invitation.path}?token=${token}`;
}

/**
 * The same address for the mail alone. Its proof shows that the person who opens it can read the mailbox, which the link
 * that an operator passes on does not.
 */
export function mailedInvitationUrl(token: string): string {
  return `${invitationUrl(token)}&proof=${keyedHash("invitation-mail:v1", token)}`;
}

/** Whether this proof is that of the mailed link with this token. */
export function isMailedProof(proof: string, token: string): boolean {
  return isKeyedHash(proof, "invitation-mail:v1", token);
}

/** Whether an email has an invitation that can be accepted. */
export function hasOpenInvitation(db: Db, email: string, nowMs: number): Promise<boolean> {
  const open = db.selectFrom("invitations").select("id").where("email", "=", email);
  const current = open.where("accepted_at_ms", "is", null).where("expires_at_ms", ">", nowMs);
  return hasRow(current);
}

/** Why the invitation of this token cannot be accepted; `undefined` when it can. */
export async function findInvitationProblem(
  db: Db,
  token: string,
  nowMs: number,
): Promise<InvitationProblem | undefined> {
  const invitation = await db
    .selectFrom("invitations")
    .select(["accepted_at_ms", "expires_at_ms"])
    .where("token_hash", "=", hashSecret("invitation", token))
    .executeTakeFirst();
  if (!invitation) return "unknown";
  if (invitation.accepted_at_ms !== null) return "used";
  return invitation.expires_at_ms <= nowMs ? "expired" : undefined;
}
