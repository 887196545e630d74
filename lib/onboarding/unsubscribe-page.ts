import { escapeHtml } from "@/lib/mail/letter";
import { settings } from "@/lib/settings/settings";
import type { SiteBanner } from "@/lib/site-banner";

/** What the page says, and the button where there is something to press. */
export type Words = { title: string; paragraphs: string[]; button?: string };

export const words = {
  ask: {
    title: "Stop the onboarding emails?",
    paragraphs: [
      "The rest of the emails that introduce Corner Office will not be sent to you, now or later.",
      "What you ask for yourself still comes: codes to sign in with, and invitations.",
    ],
    button: "Stop these emails",
  },
  stopped: {
    title: "The onboarding emails are stopped",
    paragraphs: ["None will be sent to you any more. There is nothing else to do; you can close this page."],
  },
  badLink: {
    title: "This link does not work",
    paragraphs: [
      "It is not complete, or it was changed on its way. Open the link in the email itself, exactly as it was sent.",
    ],
  },
  failed: {
    title: "That did not work yet",
    paragraphs: ["It is not certain that the emails are stopped. Press the button again in a moment."],
    button: "Try again",
  },
} as const satisfies Record<string, Words>;

/** The page as HTML: no script, nothing from elsewhere. Its form has no action, so it posts to the page itself. */
export function renderPage({ title, paragraphs, button }: Words, banner: SiteBanner | null): string {
  const { supportEmail } = settings();
  const email = supportEmail && escapeHtml(supportEmail);
  const person = email
    ? `To reach a person, write to <a href="mailto:${email}">${email}</a>.`
    : "To reach a person, answer the email that you came from.";
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} · Corner Office</title>
<link rel="icon" href="/favicon.svg">
<link rel="stylesheet" href="/unsubscribe.css">
</head>
<body>
<header><a href="/">Corner Office</a></header>
<main>
${banner ? `<aside class="banner" data-kind="${banner.kind}" aria-label="Notice">${escapeHtml(banner.message)}</aside>` : ""}
<h1>${escapeHtml(title)}</h1>
${paragraphs.map((paragraph) => `<p>${escapeHtml(paragraph)}</p>`).join("\n")}
${button ? `<form method="post"><button>${escapeHtml(button)}</button></form>` : ""}
<p class="quiet">${person}</p>
</main>
</body>
</html>
`;
}
