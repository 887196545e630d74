import { mailKinds } from "@/lib/mail/kinds";
import type { RenderedMail } from "@/lib/mail/mail";
import { renderMail } from "@/lib/mail/mail-content";
import { onboardingKinds } from "@/lib/mail/onboarding/onboarding-series";
import { renderOnboarding } from "@/lib/mail/onboarding/onboarding-texts";

/** An example of every mail, by the name used in the preview's address. */
export function renderPreviews(): Map<string, RenderedMail> {
  const atMs = Date.now();
  const reader = { accountId: "acc_preview", linkKey: Buffer.alloc(32), isConnected: false };
  return new Map([
    ...[...mailKinds.values()]
      .flatMap(({ examples }) => Object.entries(examples(atMs)))
      .map(([name, content]) => [name, renderMail(content)] as const),
    ...onboardingKinds.map((kind) => [kind, renderOnboarding(kind, reader)] as const),
  ]);
}
