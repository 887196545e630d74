import { prefersMarkdown } from "@/lib/http/accept-header";
import { readAppearance } from "@/lib/http/appearance";
import { assetsVersion } from "@/lib/http/assets";
import type { Call, SentHeaders } from "@/lib/http/call";
import { isClerks } from "@/lib/http/content-security-policy";
import { cookiePair, hasSessionCookie } from "@/lib/http/cookies";
import { showsNotice } from "@/lib/http/dismissed-notice";
import { documentPages, isPage, type Page, pages } from "@/lib/http/register/pages";
import type { Answer } from "@/lib/http/response";
import type { Route } from "@/lib/http/route";
import { readTypedEmail } from "@/lib/http/typed-email";
import { RecentCache } from "@/lib/runtime/recent-cache";
import { withTimeout } from "@/lib/runtime/timeout";
import { CachedResponse } from "@/lib/server/cached-response";
import { type Announcement, readAnnouncement } from "@/lib/site-banner";

const renewWithinMs = 1000; // after that, the last copy is served
/** Twice as many as there are of all pages and files, so that a stranger who asks for each makes no other be made anew. */
const maxKept = 1200;

/** The headers on which a shared answer depends, in as few forms as it has. */
type Variant = { cookie: string; accept: string };

const nothingSent: Variant = { cookie: "", accept: "" };

type Found = CachedResponse | undefined;

type Kept = { response: CachedResponse; goodUntilMs: number };

/**
 * The pages, documents, publications and files that are the same for everyone, in memory. Each is made once for each
 * notice and each of the headers on which it depends, or again when its `max-age` or `freshForMs` has passed; if that
 * fails, the last copy is served.
 */
export class PageCache {
  private readonly kept = new RecentCache<Kept>(maxKept);
  private readonly making = new Map<string, Promise<Kept | undefined>>();

  constructor(private readonly make: (target: string, headers: Variant) => Promise<Answer>) {}

  /**
   * The response to a GET of this path, if it is shared and can be made; at once if it is kept. An unknown path has the page
   * that says so.
   */
  find({ path, search, headers, route = pages.nothingHere }: Call): Found | Promise<Found> {
    if (!isShared(route, search, headers)) return undefined;
    if (isPage(route)) {
      const get = (banner: Announcement | null) =>
        this.get(route, route.path, variantOf(route, headers, banner), banner?.id);
      const banner = readAnnouncement();
      return banner instanceof Promise ? banner.then(get) : get(banner);
    }
    // With its version, a file is another one: it is immutable.
    return this.get(route, search === `?v=${assetsVersion()}` ? path + search : path);
  }

  private get(route: Route, target: string, variant = nothingSent, noticeId = ""): Found | Promise<Found> {
    const key = `${target}\n${variant.cookie}\n${variant.accept}\n${noticeId}`;
    const kept = this.kept.get(key);
    if (kept && performance.now() < kept.goodUntilMs) return kept.response;
    return this.renew({ key, route, target, variant }, kept);
  }

  private async renew(
    { key, route, target, variant }: { key: string; route: Route; target: string; variant: Variant },
    kept: Kept | undefined,
  ): Promise<Found> {
    const renew = () => this.make(target, variant).then((made) => this.keep(key, route, made));
    const making = this.making.get(key) ?? renew().finally(() => this.making.delete(key));
    this.making.set(key, making);
    const newest = kept ? withTimeout(renewWithinMs, making).catch(() => kept) : making;
    return ((await newest) ?? kept)?.response;
  }

  private keep(key: string, route: Route, made: Answer): Kept | undefined {
    if (made.status >= 500) return undefined;
    const caching = made.fields[made.fields.indexOf("cache-control") + 1] ?? "";
    const maxAge = /max-age=(\d+)/.exec(caching)?.[1];
    const { freshForMs = Number.POSITIVE_INFINITY } = isPage(route) ? route : {};
    const goodForMs = maxAge ? Number(maxAge) * 1000 : freshForMs;
    const kept = { response: new CachedResponse(made), goodUntilMs: performance.now() + goodForMs };
    this.kept.set(key, kept);
    return kept;
  }
}

function isShared(route: Route, search: string, headers: SentHeaders): boolean {
  if (route.isShared || !route.isSharedWithoutCookies) return route.isShared === true;
  // Clerk may have to renew the session of a browser that opens one of its pages.
  const isOfClerk = isPage(route) && isClerks(route);
  return !isOfClerk && search.length < 2 && !hasSessionCookie(headers) && readTypedEmail(headers) === "";
}

/**
 * Two of a page by its sign-in link, three by its look, and two by whether its notice was dismissed; and one of a document in
 * Markdown, which has none of them.
 */
function variantOf(page: Page, headers: SentHeaders, banner: Announcement | null): Variant {
  if (isDocument(page) && prefersMarkdown(headers)) return { cookie: "", accept: "text/markdown" };
  const look = readAppearance(headers);
  const notice = banner?.id;
  const isHidden = notice !== undefined && !showsNotice(banner, page, headers);
  const cookies = [
    hasSessionCookie(headers) && cookiePair("__session", "x"),
    look !== "system" && cookiePair("office-look", look),
    isHidden && cookiePair("office-notice", notice),
  ];
  return { cookie: cookies.filter((cookie) => cookie !== false).join("; "), accept: "" };
}

const isDocument = (page: Page) => Object.values<Page>(documentPages).includes(page);
