import { acceptInvitation } from "@/lib/invitations";
import { readEmail } from "@/lib/pages/email-field";
import { form } from "@/lib/pages/form";
import { mintLocalSubject } from "@/lib/sign-in/local-session";
import { sendCode } from "@/lib/sign-in/local-sign-in";
import { store } from "@/lib/store/store";

/** Accepts an invitation, and goes on to sign in: the code proves that the mailbox is theirs. */
export const POST = form({ page: "/invitation", under: ["local"] }, async ({ field, nowMs }) => {
  const token = field("token");
  const back = `/invitation?token=${encodeURIComponent(token)}`;
  const email = readEmail(field("email"));
  if (!email) return { to: `${back}&problem=email` };
  const db = await store();
  const accepted = await acceptInvitation(db, { token, email, subject: mintLocalSubject() }, nowMs);
  if (accepted === "foreign-email") return { to: `${back}&problem=foreign-email` };
  if (typeof accepted === "string") return { to: back };
  return sendCode(db, email, nowMs);
});
