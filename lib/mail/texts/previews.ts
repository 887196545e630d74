import { dayMs } from "@/lib/config/durations";
import { settings } from "@/lib/config/settings";
import type { Mail } from "@/lib/mail/mail";
import { onboardingKinds } from "@/lib/mail/onboarding-series";
import { accountDeletionMail } from "@/lib/mail/texts/account-deletion";
import { appEndMail } from "@/lib/mail/texts/app-end";
import { licenceEndedMail, licenceEndingMail, paymentFailedMail } from "@/lib/mail/texts/licence";
import { renderOnboarding } from "@/lib/mail/texts/onboarding";
import {
  codeMail,
  confirmationMail,
  invitationMail,
  newAppMail,
  newBrowserMail,
  passkeyMail,
  replayedAppMail,
} from "@/lib/mail/texts/sign-in";
import { trialEndedMail, trialEndingMail } from "@/lib/mail/texts/trial";

const to = "ceo@example.com";

/** An example of every mail, by the name used in the preview's address. */
export function renderPreviews(): Map<string, Pick<Mail, "subject" | "text" | "html">> {
  const invitation = `${settings().appUrl}/invitation?token=preview`;
  return new Map([
    ["invitation", invitationMail({ to, url: invitation, isOnWaitlist: false })],
    ["invitation-waitlist", invitationMail({ to, url: invitation, isOnWaitlist: true })],
    ["waitlist", confirmationMail({ to, url: `${settings().appUrl}/waitlist?token=preview` })],
    ["code", codeMail({ to, code: "123456", isLong: false })],
    ["long-code", codeMail({ to, code: "ABCD2345EFGH", isLong: true })],
    ["new-browser", newBrowserMail({ to, name: "Chrome on Windows", atMs: Date.now() })],
    ["new-app", newAppMail({ to, name: "Claude Code", origin: "a program on a computer", atMs: Date.now() })],
    ["replayed-app", replayedAppMail({ to, name: "Claude", origin: "claude.ai", atMs: Date.now() })],
    [
      "app-end",
      appEndMail({
        to,
        apps: [{ name: "Claude Code", origin: "a program on a computer", endsAtMs: Date.now() + 7 * dayMs }],
      }),
    ],
    [
      "apps-end",
      appEndMail({
        to,
        apps: [
          { name: "Claude Code", origin: "a program on a computer", endsAtMs: Date.now() + 7 * dayMs },
          { name: "Weekly reports", origin: "reports.example", endsAtMs: Date.now() + 7.5 * dayMs },
        ],
      }),
    ],
    ["passkey-added", passkeyMail({ to, change: "added", name: "Chrome on macOS", atMs: Date.now() })],
    ["passkey-removed", passkeyMail({ to, change: "removed", name: "Chrome on macOS", atMs: Date.now() })],
    ["account-deletion", accountDeletionMail({ to, deletesAtMs: Date.now() + dayMs, token: "preview" })],
    ["trial-ending", trialEndingMail({ to, endsAtMs: Date.now() + 3 * dayMs })],
    ["trial-ended", trialEndedMail({ to, endsAtMs: Date.now() })],
    ["payment-failed", paymentFailedMail({ to, stopsAtMs: Date.now() + 14 * dayMs })],
    ["licence-ending", licenceEndingMail({ to, endsAtMs: Date.now() + 3 * dayMs, after: "nothing" })],
    [
      "licence-ended",
      licenceEndedMail({ to, after: "nothing", end: { what: "licence", atMs: Date.now(), isUnpaid: false } }),
    ],
    ...onboardingKinds.map(
      (kind) => [kind, renderOnboarding(kind, "acc_preview", Buffer.alloc(32))] as const,
    ),
  ]);
}
