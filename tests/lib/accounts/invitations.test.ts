import { describe, expect, it } from "vitest";
import { acceptInvitation, auditedInvitation, invite } from "@/lib/accounts/joining/invitations";
import { auditedTransaction } from "@/lib/db/audit";
import { findInvitationProblem } from "@/lib/mail/links/invitation-token";
import { startStage } from "@/tests/support/block";
import { engines } from "@/tests/support/engines";

const nowMs = 1_800_000_000_000;
const endsAtMs = nowMs + 14 * 24 * 60 * 60 * 1000;

describe.each(engines)("an invitation on $name", async (engine) => {
  const stage = await startStage(engine);
  const db = await stage.open();

  /** Creates an invitation and returns its token. */
  const inviteNow = (email: string) =>
    auditedTransaction(
      db,
      { by: "operator", what: "invite", ...auditedInvitation(email) },
      nowMs,
      (transaction) => invite(transaction, email, {}, nowMs),
    );
  const accept = (email: string, token: string, atMs = nowMs) =>
    acceptInvitation(db, { token, email, subject: `user_${email.replace(/\W/g, "")}` }, atMs);

  it("is valid for exactly 14 days", async () => {
    const token = await inviteNow("days@example.com");
    expect(await findInvitationProblem(db, token, endsAtMs - 1)).toBeUndefined();
    expect(await findInvitationProblem(db, token, endsAtMs)).toBe("expired");
    expect(await accept("days@example.com", token, endsAtMs)).toBe("expired");
    expect(await accept("days@example.com", token, endsAtMs - 1)).toMatchObject({ plan: "trial" });
  });
});
