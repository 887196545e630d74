import { dayMs } from "@/lib/config/durations";
import { settings } from "@/lib/config/settings";
import type { RenderedMail } from "@/lib/mail/mail";
import { type MailContent, renderMail } from "@/lib/mail/mail-content";
import { onboardingKinds } from "@/lib/mail/onboarding-series";
import { accountDeletionMail, farewellMail } from "@/lib/mail/texts/account-deletion";
import { appEndMail, appInTurnMail, newAppMail, replayedAppMail } from "@/lib/mail/texts/apps";
import { automaticPurchaseStoppedMail, lowCreditsMail } from "@/lib/mail/texts/credits";
import { emailChangedMail, emailChangeMail } from "@/lib/mail/texts/email-change";
import { licenceEndedMail, licenceEndingMail, paymentFailedMail } from "@/lib/mail/texts/licence";
import { renderOnboarding } from "@/lib/mail/texts/onboarding";
import * as signIn from "@/lib/mail/texts/sign-in";
import { trialEndedMail, trialEndingMail } from "@/lib/mail/texts/trial";

/** An example of every mail, by the name used in the preview's address. */
export function renderPreviews(): Map<string, RenderedMail> {
  const { appUrl } = settings();
  const atMs = Date.now();
  const invitation = `${appUrl}/invitation?token=preview`;
  const app = { name: "Claude Code", origin: "a program on a computer", endsAtMs: atMs + 7 * dayMs };
  const other = { name: "Weekly reports", origin: "reports.example", endsAtMs: atMs + 7.5 * dayMs };
  const change = {
    id: "preview",
    side: "to",
    other: "new@example.com",
    untilMs: atMs + dayMs,
    isTaken: false,
    isConfirmed: false,
  } as const;
  const contents: Record<string, MailContent> = {
    invitation: signIn.invitationMail({ url: invitation, isOnWaitlist: false }),
    "invitation-waitlist": signIn.invitationMail({ url: invitation, isOnWaitlist: true }),
    waitlist: signIn.confirmationMail({ url: `${appUrl}/waitlist?token=preview` }),
    code: signIn.codeMail({ code: "123456", isLong: false }),
    "long-code": signIn.codeMail({ code: "ABCD2345EFGH", isLong: true }),
    "new-browser": signIn.newBrowserMail({ name: "Chrome on Windows", atMs }),
    "new-app": newAppMail({ ...app, atMs }),
    "replayed-app": replayedAppMail({ name: "Claude", origin: "claude.ai", atMs }),
    "app-in-turn": appInTurnMail({ ...app, atMs }),
    "browser-in-turn": signIn.browserInTurnMail({ name: "Chrome on Windows", atMs }),
    "app-end": appEndMail({ apps: [app] }),
    "apps-end": appEndMail({ apps: [app, other] }),
    "passkey-added": signIn.passkeyMail({ change: "added", name: "Chrome on macOS", atMs }),
    "passkey-removed": signIn.passkeyMail({ change: "removed", name: "Chrome on macOS", atMs }),
    "account-deletion": accountDeletionMail({ deletesAtMs: atMs + dayMs, token: "preview" }),
    farewell: farewellMail({ atMs }),
    "email-change-old": emailChangeMail({ ...change, side: "from" }),
    "email-change-new": emailChangeMail(change),
    "email-change-taken": emailChangeMail({ ...change, isTaken: true }),
    "email-changed": emailChangedMail({ email: change.other, atMs }),
    "trial-ending": trialEndingMail({ endsAtMs: atMs + 3 * dayMs }),
    "trial-ended": trialEndedMail({ endsAtMs: atMs }),
    "payment-failed": paymentFailedMail({
      ...{ stopsAtMs: atMs + 14 * dayMs, status_reason: null, due: "€49.00", planTitle: "Office" },
    }),
    "licence-ending": licenceEndingMail({ endsAtMs: atMs + 3 * dayMs, after: "nothing" }),
    "low-credits": lowCreditsMail({ below: 20_000, left: 19_875, atMs }),
    "automatic-purchase-stopped": automaticPurchaseStoppedMail({ why: "confirmation" }),
    "licence-ended": licenceEndedMail({ after: "nothing", end: { what: "licence", atMs, how: "ended" } }),
  };
  return new Map([
    ...Object.entries(contents).map(([name, content]) => [name, renderMail(content)] as const),
    ...onboardingKinds.map(
      (kind) =>
        [
          kind,
          renderOnboarding(kind, { accountId: "acc_preview", linkKey: Buffer.alloc(32), isConnected: false }),
        ] as const,
    ),
  ]);
}
