import * as z from "zod";
import { settings } from "@/lib/config/settings";
import { store } from "@/lib/db/store";
import { hooks } from "@/lib/http/pages";
import { eventWith, webhook } from "@/lib/http/webhook";
import { isFinalBounce } from "@/lib/mail/suppressions";
import { suppressEmail } from "@/lib/mail/unsubscribe";

const complained = z.object({ to: z.array(z.string()) });
const bounced = complained.extend({ bounce: z.object({ type: z.string() }).optional() });

/** Resend's webhooks: an address that bounces or reports spam gets no more mails of the onboarding series. */
export const POST = webhook(hooks.resend, readKey, {
  "email.bounced": eventWith(bounced, async ({ to, bounce }, nowMs) => {
    if (isFinalBounce(bounce?.type)) await suppress(to, nowMs);
  }),
  "email.complained": eventWith(complained, ({ to }, nowMs) => suppress(to, nowMs)),
});

function readKey(): Buffer | undefined {
  const { mail } = settings();
  return mail.kind === "resend" ? mail.webhookKey : undefined;
}

async function suppress(emails: string[], nowMs: number): Promise<void> {
  const db = await store();
  for (const email of emails) await suppressEmail(db, email, nowMs);
}
