import { ApiError } from "@/lib/api/errors";
import type { Answer } from "@/lib/api/headers";
import { publications } from "@/lib/api/pages";
import { escapeHtml } from "@/lib/mail/letter";
import { renderOnboarding } from "@/lib/onboarding/letters";
import { type OnboardingKind, onboardingKinds } from "@/lib/onboarding/series";
import { hall } from "@/lib/pages/hall";

const { path } = publications.emailPreviews;

/** How the onboarding mails look, under `npm run dev` alone: all of them, `?html=<kind>` or `?text=<kind>`. */
export const GET = hall(
  publications.emailPreviews,
  ({ url: { searchParams } }) => {
    if (searchParams.size === 0) return html(onboardingKinds.map(describe).join(""));
    const kind = onboardingKinds.find((known) => [...searchParams.values()].includes(known));
    if (!kind) throw new ApiError("not_found");
    const mail = renderOnboarding(kind, "acc_preview");
    return searchParams.has("text") ? { status: 200, body: mail.text } : html(mail.html);
  },
  { say: ({ status, message }) => ({ status, body: `${message}\n` }) },
);

function describe(kind: OnboardingKind): string {
  const { subject } = renderOnboarding(kind, "acc_preview");
  return `<p>${escapeHtml(subject)}: <a href="${path}?html=${kind}">HTML</a>, <a href="${path}?text=${kind}">text</a></p>`;
}

function html(body: string): Answer {
  return { status: 200, body, mediaType: "text/html; charset=utf-8" };
}
