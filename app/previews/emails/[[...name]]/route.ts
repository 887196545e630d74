import { notFound } from "next/navigation";
import { escapeHtml } from "@/lib/mail/letter";
import { renderOnboarding } from "@/lib/onboarding/letters";
import { type OnboardingKind, onboardingKinds } from "@/lib/onboarding/series";
import { settings } from "@/lib/settings/settings";

/** How the onboarding mails look, at `/previews/emails` under `npm run dev` alone; `….txt` is the text part. */
export async function GET(
  _: Request,
  { params }: { params: Promise<{ name?: string[] }> },
): Promise<Response> {
  if (settings().production) notFound();
  const [name = ""] = (await params).name ?? [];
  if (name === "") return html(onboardingKinds.map(describe).join(""));
  const kind = onboardingKinds.find((known) => known === name.replace(/\.txt$/, ""));
  if (!kind) notFound();
  const mail = renderOnboarding(kind, "acc_preview");
  if (name === kind) return html(mail.html);
  return new Response(mail.text, { headers: { "content-type": "text/plain; charset=utf-8" } });
}

function describe(kind: OnboardingKind): string {
  const { subject } = renderOnboarding(kind, "acc_preview");
  const address = `/previews/emails/${kind}`;
  return `<p>${escapeHtml(subject)}: <a href="${address}">HTML</a>, <a href="${address}.txt">text</a></p>`;
}

function html(body: string): Response {
  return new Response(body, { headers: { "content-type": "text/html; charset=utf-8" } });
}
