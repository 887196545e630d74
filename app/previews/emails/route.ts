import { themeAsCss } from "@/lib/config/theme";
import { ApiError } from "@/lib/http/errors";
import { escapeHtml } from "@/lib/http/escape-html";
import { createHandler } from "@/lib/http/handler";
import { previews } from "@/lib/http/pages";
import { inPlainText, type ResponseParts } from "@/lib/http/response";
import type { Mail } from "@/lib/mail/mail";
import { renderPreviews } from "@/lib/mail/texts/previews";

const { path } = previews.emails;

/** Previews of the mails, only under `npm run dev`: the list, `?html=<name>` or `?text=<name>`. */
export const GET = createHandler(
  previews.emails,
  ({ url: { searchParams } }) => {
    const mails = renderPreviews();
    if (searchParams.size === 0) return html(index([...mails]));
    const mail = mails.get([...searchParams.values()][0] ?? "");
    if (!mail) throw new ApiError("not_found");
    return searchParams.has("text") ? { status: 200, body: mail.text } : html(mail.html);
  },
  { renderError: inPlainText },
);

function index(mails: [string, Pick<Mail, "subject" | "html">][]): string {
  const figures = mails.map(
    ([name, { subject, html }]) => `<figure>
<div><iframe loading="lazy" tabindex="-1" title="${escapeHtml(subject)}" srcdoc="${escapeHtml(html)}"></iframe></div>
<figcaption><b>${escapeHtml(subject)}</b><br><a href="${path}?html=${name}">HTML</a> <a href="${path}?text=${name}">text</a></figcaption>
</figure>`,
  );
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>Mails</title><style>${themeAsCss()}${style}</style><h1>Mails</h1>${figures.join("\n")}`;
}

const style = `
body { margin: 2rem; background: var(--paper); color: var(--ink); font: 1rem/1.6 var(--sans); }
figure { display: inline-block; width: 300px; margin: 0 1.5rem 2rem 0; vertical-align: top; }
div { height: 380px; overflow: hidden; border: 1px solid var(--line); border-radius: var(--radius-2); }
iframe { width: 600px; height: 760px; border: 0; transform: scale(0.5); transform-origin: 0 0; pointer-events: none; }
a { color: var(--link); }
`;

function html(body: string): ResponseParts {
  return { status: 200, body, mediaType: "text/html; charset=utf-8" };
}
