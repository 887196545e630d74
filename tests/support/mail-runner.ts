import { setTimeout as sleep } from "node:timers/promises";
import { settings } from "@/lib/config/settings";
import { store } from "@/lib/db/store";
import { sendDueMails } from "@/lib/mail/onboarding-runner";
import { createResendSender } from "@/lib/mail/resend-sender";

/*
 * A runner in a process of its own, as the server's is but for its patience: the sender breaks off after a second, so
 * that a lease lasts six, and a failure is tried again after a fifth of one. It runs until it is killed.
 */
const { mail } = settings();
if (mail.kind !== "resend") throw new Error("The fault run sends to the stand-in for Resend.");
const through = createResendSender(mail, undefined, 1000);
for (;;) {
  await store()
    .then((db) => sendDueMails(db, through, { backoff: () => 200 }))
    .catch(() => {});
  await sleep(100);
}
