import { prefersMarkdown } from "@/lib/http/accept-header";
import { assetsVersion } from "@/lib/http/assets";
import { isClerks } from "@/lib/http/content-security-policy";
import { hasSessionCookie, readCookie } from "@/lib/http/cookies";
import { insertNotice, showsNotice } from "@/lib/http/notice";
import { documentPages, markdownPath, type Page, pages } from "@/lib/http/pages";
import type { Answer, HeaderList } from "@/lib/http/response";
import type { Route } from "@/lib/http/route";
import { pageAt, routeAt } from "@/lib/http/router";
import type { SiteBanner } from "@/lib/http/schemas";
import { readTypedEmail } from "@/lib/http/typed-email";
import { withTimeout } from "@/lib/runtime/timeout";
import { CachedResponse } from "@/lib/server/cached-response";
import { readSiteBanner } from "@/lib/site-banner";

const maxAgeMs = 1000;
const maxShown = 4; // variants of a page, by notice

type CookieHeaders = Pick<Headers, "get">;

type RenderPage = (target: string, cookie: string | undefined) => Promise<Answer>;

/** Headers of a single response, and those that {@link CachedResponse} sets itself. */
const notCached = new Set(["content-length", "etag", "x-request-id"]);

/** The Markdown form of each document, which is also the answer at its path for a client that prefers Markdown. */
const markdownForms = new Map<string, string>(
  Object.values(documentPages).map(({ path }) => [path, markdownPath(path)]),
);

/** The shortest cookie that makes a browser look signed in. */
const cookieOfSignedIn = "__session=x";

/**
 * The pages, documents, publications and files that are the same for everyone, in memory. Each is rendered once, or again when
 * its `max-age` or `freshForMs` has passed; if that fails, the last copy is served. A page has two copies, because its sign-in link
 * depends on the cookie.
 */
export class PageCache {
  private readonly kept = new Map<string, CachedPage>();
  private readonly making = new Map<string, Promise<CachedPage>>();

  constructor(private readonly make: RenderPage) {}

  /** The response to a GET of this path, if it is shared. An unknown path has the page that says so. */
  async find(path: string, query: string, headers: CookieHeaders): Promise<CachedResponse | undefined> {
    const route = routeAt(path);
    if (route && !isShared(route, query, headers)) return undefined;
    const markdown = markdownForms.get(path);
    if (markdown && prefersMarkdown(headers))
      return (await this.get(markdown, undefined)).answer(undefined, null, headers);
    const page = route ? pageAt(path) : pages.nothingHere;
    const cookie = page && hasSessionCookie(headers) ? cookieOfSignedIn : undefined;
    // With its version, a file is another one: it is immutable.
    const target = !page && query === `v=${assetsVersion()}` ? `${path}?${query}` : path;
    const kept = await this.get(route ? target : pages.nothingHere.path, cookie);
    return kept.answer(page, page ? await readSiteBanner() : null, headers);
  }

  private get(path: string, cookie: string | undefined): CachedPage | Promise<CachedPage> {
    const key = cookie ? `${path} ${cookie}` : path;
    const kept = this.kept.get(key);
    if (kept?.isGood) return kept;
    const making =
      this.making.get(key) ?? this.renew(key, path, cookie).finally(() => this.making.delete(key));
    this.making.set(key, making);
    return kept ? withTimeout(maxAgeMs, making).catch(() => kept) : making;
  }

  private async renew(key: string, path: string, cookie: string | undefined): Promise<CachedPage> {
    const made = await this.make(path, cookie);
    if (made.status >= 500) throw new Error(`${path} cannot be made: ${made.status}`);
    const page = new CachedPage(made, pageAt(path)?.freshForMs);
    this.kept.set(key, page);
    return page;
  }
}

function isShared(route: Route, query: string, headers: CookieHeaders): boolean {
  if (route.isShared || !route.isSharedWithoutCookies) return route.isShared === true;
  // Clerk may have to renew the session of a browser that opens one of its pages.
  const page = pageAt(route.path);
  return (
    !(page && isClerks(page)) && query === "" && !hasSessionCookie(headers) && readTypedEmail(headers) === ""
  );
}

class CachedPage {
  private readonly fields: HeaderList;
  private readonly goodUntilMs: number;
  /** By notice and `Cache-Control`. */
  private readonly shown = new Map<string, CachedResponse>();

  constructor(
    private readonly made: Answer,
    freshForMs = Number.POSITIVE_INFINITY,
  ) {
    const { fields } = made;
    this.fields = fields.filter((_, at) => !notCached.has(fields[at - (at % 2)] ?? ""));
    const caching = fields[fields.indexOf("cache-control") + 1] ?? "";
    const maxAge = /max-age=(\d+)/.exec(caching)?.[1];
    this.goodUntilMs = performance.now() + (maxAge ? Number(maxAge) * 1000 : freshForMs);
  }

  get isGood(): boolean {
    return performance.now() < this.goodUntilMs;
  }

  /** The response as it is sent now, with the current notice if it is a page. */
  answer(page: Page | undefined, banner: SiteBanner | null, headers: CookieHeaders): CachedResponse {
    const { status, content } = this.made;
    const bytes = () => (content instanceof Buffer ? content : Buffer.from(content ?? ""));
    if (!page) return this.show("", () => new CachedResponse(status, this.fields, bytes()));
    const notice = showsNotice(banner, page, headers) ? banner : null;
    // A browser that dismissed a notice may see less than others.
    const isPrivate = readCookie(headers, "office-notice") !== undefined;
    return this.show(`${isPrivate} ${notice ? `${notice.kind} ${notice.message}` : ""}`, () => {
      const fields = this.fields.map((field) =>
        isPrivate && field === "public, no-cache" ? "private, no-cache" : field,
      );
      const noticed = Buffer.from(insertNotice(bytes().toString(), notice, page));
      return new CachedResponse(status, fields, noticed);
    });
  }

  private show(name: string, make: () => CachedResponse): CachedResponse {
    let shown = this.shown.get(name);
    if (!shown) {
      if (this.shown.size >= maxShown) this.shown.clear();
      shown = make();
      this.shown.set(name, shown);
    }
    return shown;
  }
}
