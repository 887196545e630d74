import * as z from "zod";
import { settings } from "@/lib/config/settings";
import { store } from "@/lib/db/store";
import { hooks } from "@/lib/http/pages";
import { webhook } from "@/lib/http/webhook";
import { suppressEmail } from "@/lib/mail/onboarding-outbox";

const complained = z.object({ to: z.array(z.string()) });
const bounced = complained.extend({ bounce: z.object({ type: z.string() }).optional() });

/** Resend's events: an address that is not there, or whose owner calls our mail spam, gets no more of the series. */
export const { POST } = webhook(hooks.resend, readKey, {
  async "email.bounced"(data, nowMs) {
    const { to, bounce } = bounced.parse(data);
    // A full mailbox, say, is no reason to give up an address.
    if (bounce?.type === "Transient") return;
    await suppress(to, nowMs);
  },
  async "email.complained"(data, nowMs) {
    await suppress(complained.parse(data).to, nowMs);
  },
});

function readKey(): Buffer | undefined {
  const { mail } = settings();
  return mail.kind === "resend" ? mail.webhookKey : undefined;
}

async function suppress(emails: string[], nowMs: number): Promise<void> {
  const db = await store();
  for (const email of emails) await suppressEmail(db, email, nowMs);
}
