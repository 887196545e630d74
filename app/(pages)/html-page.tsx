import type { ReactNode } from "react";
import { hasSessionCookie, readCookie } from "@/lib/http/cookies";
import { showsNotice } from "@/lib/http/dismissed-notice";
import type { ApiError } from "@/lib/http/errors";
import {
  createHandler,
  type HandlerOptions,
  type HandlerRequest,
  type RouteHandler,
} from "@/lib/http/handler";
import { askToWait } from "@/lib/http/plain-page";
import type { Page } from "@/lib/http/register/pages";
import { renderHtml } from "@/lib/http/render-html";
import type { HeaderList, ResponseParts } from "@/lib/http/response";
import { overloaded } from "@/lib/http/turns";
import { readAnnouncement } from "@/lib/site-banner";
import { Frame } from "./frame";
import type { Problem } from "./problem";
import { Support } from "./support";

/** The content of a page. Without a title it has the site's. */
export type PageContent = {
  title?: string;
  description?: string;
  /** The problem of the page's form: screen readers read it first. */
  problem?: Problem | undefined;
  content: ReactNode;
  status?: number;
  headers?: HeaderList;
  /** How long a copy of a shared page may be shown that lacks something now. */
  maxAgeSeconds?: number | false;
};

type PageHandler<Who> = (
  call: HandlerRequest,
  who: Who,
) => PageContent | ResponseParts | Promise<PageContent | ResponseParts>;

/** Creates the route handler of a page. The callback returns the content, or the parts of another response. */
export function htmlPage<Who = undefined>(
  page: Page,
  handler: PageHandler<Who>,
  renderError = apologize,
  lay = (shown: PageContent) => shown,
  identify?: HandlerOptions<Who>["identify"],
): RouteHandler {
  return createHandler<Who>(
    page,
    async (call, who) => {
      const found = await handler(call, who);
      return "content" in found ? respond(page, lay(found), call) : found;
    },
    {
      renderError: (error, call) =>
        [429, 499].includes(error.status) || error === overloaded
          ? askToWait(error, call.headers)
          : respond(page, renderError(error, call), call),
      ...(identify && { identify }),
    },
  );
}

/** Creates the route handler of a page with one purpose: a narrow column under its title. */
export function narrowPage<Who = undefined>(
  page: Page,
  handler: PageHandler<Who>,
  renderError?: (error: ApiError) => PageContent,
  identify?: HandlerOptions<Who>["identify"],
): RouteHandler {
  return htmlPage(page, handler, renderError && ((error) => narrow(renderError(error))), narrow, identify);
}

function narrow({ content, ...shown }: PageContent): PageContent {
  return {
    ...shown,
    content: (
      <div className="narrow">
        <h1>{shown.title}</h1>
        {content}
        <Support />
      </div>
    ),
  };
}

async function respond(
  page: Page,
  { title, description, problem, content, status = 200, headers = [], maxAgeSeconds }: PageContent,
  { headers: sent }: HandlerRequest,
): Promise<ResponseParts> {
  const banner = await readAnnouncement();
  const body = await renderHtml(
    <Frame
      page={page}
      notice={showsNotice(banner, page, sent) ? banner : null}
      title={problem ? `${problem.words} · ${title}` : title}
      description={description}
      isSignedIn={hasSessionCookie(sent)}
    >
      {content}
    </Frame>,
  );
  return {
    status,
    body,
    mediaType: "text/html; charset=utf-8",
    headers: page.isShared || page.isSharedWithoutCookies ? ["vary", "Cookie", ...headers] : headers,
    caching: page.isShared && status === 200 ? cachingFor(sent, maxAgeSeconds) : "no-store",
  };
}

/** The page is public, unless its sign-in link or a dismissed notice makes it this reader's own. */
function cachingFor(sent: Headers, maxAgeSeconds: PageContent["maxAgeSeconds"]): string {
  const isOrdinary = !hasSessionCookie(sent) && readCookie(sent, "office-notice") === undefined;
  return `${isOrdinary ? "public" : "private"}, ${maxAgeSeconds ? `max-age=${maxAgeSeconds}` : "no-cache"}`;
}

function apologize({ status, headers }: ApiError, { context }: HandlerRequest): PageContent {
  return narrow({
    title: "That did not work",
    status,
    headers: Object.entries(headers).flat(),
    content: (
      <>
        <p>Something went wrong on our side, and nothing was changed. Reload this page in a moment.</p>
        <p className="quiet">
          If it happens again, quote reference <code>{context.requestId}</code>.
        </p>
      </>
    ),
  });
}
