import { ApiError } from "@/lib/http/errors";
import { escapeHtml } from "@/lib/http/escape-html";
import { handleEndpoint } from "@/lib/http/handler";
import { previews } from "@/lib/http/register/probes";
import { inPlainText } from "@/lib/http/response";
import { renderPreviews } from "@/lib/mail/previews";

const mediaType = "text/html; charset=utf-8";

/** Previews of the mails, only under `npm run dev`: the list, `?html=<name>` or `?text=<name>`. */
export const { GET } = handleEndpoint(previews.emails, { explain: inPlainText }, ({ query }) => {
  const mails = renderPreviews();
  if (query.size === 0) {
    const items = [...mails].map(
      ([name, { subject }]) =>
        `<li><a href="?html=${name}">${escapeHtml(subject)}</a> (<a href="?text=${name}">text</a>)`,
    );
    const body = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Mails</title><ul>${items.join("\n")}</ul>`;
    return { status: 200, body, mediaType };
  }
  const mail = mails.get([...query.values()][0] ?? "");
  if (!mail) throw new ApiError("not_found");
  return query.has("text") ? { status: 200, body: mail.text } : { status: 200, body: mail.html, mediaType };
});
