import type { Answer } from "@/lib/api/headers";
import { pages } from "@/lib/api/pages";
import { readUnsubscribeLink, unsubscribe } from "@/lib/onboarding/unsubscribe";
import { renderPage, type Words, words } from "@/lib/onboarding/unsubscribe-page";
import { hall, type Room } from "@/lib/pages/hall";
import { readSiteBanner } from "@/lib/site-banner";

/** Says what will stop, and changes nothing: whoever scans links opens every one. */
export const GET = unsubscribePage(async ({ url }) => {
  readUnsubscribeLink(url);
  return show(words.ask);
});

/** The page's own button, or a mail client's click on it: nothing but the token in the address counts. */
export const POST = unsubscribePage(async ({ url, visit }) => {
  await unsubscribe(url, visit.requestId);
  return show(words.stopped);
});

function unsubscribePage(room: Room): (request: Request) => Promise<Response> {
  return hall(pages.unsubscribe, room, {
    fromAnywhere: true,
    say: ({ code, status }) => show(code === "invalid_token" ? words.badLink : words.failed, status),
  });
}

async function show(said: Words, status = 200): Promise<Answer> {
  const body = renderPage(said, await readSiteBanner());
  const headers = ["x-robots-tag", "noindex"];
  return { status, body, mediaType: "text/html; charset=utf-8", headers };
}
