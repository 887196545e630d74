import { inSeconds } from "@/lib/config/durations";
import { versioned } from "@/lib/http/assets";
import type { SentHeaders } from "@/lib/http/call";
import type { ApiError } from "@/lib/http/errors";
import { files } from "@/lib/http/register/files";
import { errorParts, type ResponseParts } from "@/lib/http/response";

/** A page of this HTML without navigation, for a browser that cannot get the one it asked for. */
export function plainPage(
  title: string,
  content: string,
  head = "",
): Pick<ResponseParts, "body" | "mediaType"> {
  const body = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex">
<link rel="stylesheet" href="${versioned(files.style)}">
<title>${title}</title>
${head}</head>
<body>
<main>
<div class="narrow">
<h1>${title}</h1>
${content}
</div>
</main>
</body>
</html>
`;
  return { body, mediaType: "text/html; charset=utf-8" };
}

/** The refusal of a page for now: a page that reloads itself for a browser, the ApiError JSON for a program. */
export function askToWait(error: ApiError, headers: SentHeaders): ResponseParts {
  const answer = errorParts(error);
  if (!headers.get("accept")?.includes("text/html")) return answer;
  const seconds = error.headers["retry-after"];
  const content = `<p>${error.message}</p>
<p>Nothing is lost. This page reloads in ${inSeconds(Number(seconds))}.</p>`;
  const reload = `<meta http-equiv="refresh" content="${seconds}">\n`;
  return { ...answer, ...plainPage("One moment, please", content, reload) };
}
