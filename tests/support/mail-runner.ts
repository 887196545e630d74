import { setTimeout as sleep } from "node:timers/promises";
import { settings } from "@/lib/config/settings";
import { store } from "@/lib/db/store";
import { onboardingOutbox } from "@/lib/mail/outbox/onboarding-outbox";
import { sendDueMails } from "@/lib/mail/outbox/outbox-runner";
import { createResendSender } from "@/lib/mail/senders/resend-sender";

/*
 * The server's mail runner in its own process, with shorter times: the sender times out after one second, and a failure is
 * retried after 200 ms. It runs until it is killed.
 */
const { mail } = settings();
if (mail.kind !== "resend") throw new Error("The fault run sends to the stand-in for Resend.");
const mailSender = createResendSender(mail, 1000);
for (;;) {
  await store()
    .then((db) => sendDueMails(db, mailSender, { ...onboardingOutbox, retryAfterMs: () => 200 }))
    .catch(() => {});
  await sleep(100);
}
