import * as z from "zod";
import { parseEmailAddress } from "@/lib/config/email-address";
import { settings } from "@/lib/config/settings";
import { store } from "@/lib/db/store";
import { handleEndpoint } from "@/lib/http/handler";
import { eventWith, processEvents, signedWith } from "@/lib/http/hook-events";
import { hooks } from "@/lib/http/register/hooks";
import { isFinalBounce } from "@/lib/mail/outbox/suppressions";
import { suppressEmail } from "@/lib/mail/unsubscribe";

const complained = z.object({ to: z.union([z.string().transform((one) => [one]), z.array(z.unknown())]) });
const bounced = complained.extend({ bounce: z.object({ type: z.string() }).optional().catch(undefined) });

/** Resend's webhooks: an address that bounces, reports spam or is on its list of those gets no more mails of the
 * onboarding series. */
const process = processEvents({
  "email.bounced": eventWith(bounced, async ({ to, bounce }, nowMs) => {
    if (isFinalBounce(bounce?.type)) await suppress(to, nowMs);
  }),
  "email.complained": eventWith(complained, ({ to }, nowMs) => suppress(to, nowMs)),
  "email.suppressed": eventWith(complained, ({ to }, nowMs) => suppress(to, nowMs)),
  "suppression.added": eventWith(z.object({ email: z.string() }), ({ email }, nowMs) =>
    suppress([email], nowMs),
  ),
});

export const { POST } = handleEndpoint(hooks.resend, signedWith(readKey), process);

function readKey(): Buffer | undefined {
  const { mail } = settings();
  return mail.kind === "resend" ? mail.webhookKey : undefined;
}

/** Each may have a name. What is not an email is passed over, so that the others are not lost. */
async function suppress(recipients: unknown[], nowMs: number): Promise<void> {
  const db = await store();
  for (const recipient of recipients) {
    const [, address = recipient] = /<([^<>]+)>\s*$/.exec(String(recipient)) ?? [];
    const email = parseEmailAddress(String(address));
    if (email) await suppressEmail(db, email, nowMs);
  }
}
