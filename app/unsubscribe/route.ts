import { readBody } from "@/lib/api/body";
import { ApiError } from "@/lib/api/errors";
import { beginVisit } from "@/lib/api/visit";
import { readUnsubscribeLink, unsubscribe } from "@/lib/onboarding/unsubscribe";
import { renderPage, type Words, words } from "@/lib/onboarding/unsubscribe-page";
import { log } from "@/lib/process/log";
import { bodyLimits } from "@/lib/settings/limits";
import { readSiteBanner } from "@/lib/site-banner";

/*
 * A route handler and not a page: under `Referrer-Policy: no-referrer` browsers send `Origin: null` with a form, which
 * Next's server actions refuse; and a page cannot answer 400 or 502.
 */

/** Says what will stop, and changes nothing: whoever scans links opens every one. */
export async function GET(request: Request): Promise<Response> {
  return answer(async (url) => {
    readUnsubscribeLink(url);
    return words.ask;
  }, request);
}

/** The page's own button, or a mail client's click on it: nothing but the token in the address counts. */
export async function POST(request: Request): Promise<Response> {
  return answer(async (url, requestId) => {
    await readBody(request, bodyLimits.unsubscribe);
    await unsubscribe(url, requestId);
    return words.stopped;
  }, request);
}

async function answer(
  work: (url: URL, requestId: string) => Promise<Words>,
  request: Request,
): Promise<Response> {
  const url = new URL(request.url);
  const { requestId } = beginVisit(request.method, url.pathname, request.headers);
  try {
    return page(await work(url, requestId));
  } catch (thrown) {
    if (!(thrown instanceof ApiError)) log().error({ err: thrown, requestId }, "unexpected failure");
    const { code, status } = thrown instanceof ApiError ? thrown : new ApiError("internal_error");
    return page(code === "invalid_token" ? words.badLink : words.failed, status);
  }
}

async function page(said: Words, status = 200): Promise<Response> {
  const headers = {
    "content-type": "text/html; charset=utf-8",
    "cache-control": "no-store",
    "x-robots-tag": "noindex",
  };
  return new Response(renderPage(said, await readSiteBanner()), { status, headers });
}
