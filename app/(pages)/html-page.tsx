import type { ReactNode } from "react";
import { hasSessionCookie } from "@/lib/auth/session-hint";
import { readCookie } from "@/lib/http/cookies";
import type { ApiError } from "@/lib/http/errors";
import { createHandler, type HandlerRequest } from "@/lib/http/handler";
import { insertNotice, showsNotice } from "@/lib/http/notice";
import type { Page } from "@/lib/http/pages";
import { askToWait } from "@/lib/http/plain-page";
import { renderHtml } from "@/lib/http/render-html";
import type { HeaderList, ResponseParts } from "@/lib/http/response";
import { readSiteBanner } from "@/lib/site-banner";
import { Frame } from "./frame";
import { Support } from "./support";

/** The content of a page. Without a title it has the site's. */
export type PageContent = {
  title?: string;
  description?: string;
  content: ReactNode;
  status?: number;
  headers?: HeaderList;
};

type HtmlPageOptions = {
  renderError?: (error: ApiError, call: HandlerRequest) => PageContent;
};

/**
 * Creates the route handler of a page: its only scripts are those that its entry names. The callback returns the
 * content, or the parts of a response to send instead.
 */
export function htmlPage(
  page: Page,
  handler: (call: HandlerRequest) => PageContent | ResponseParts | Promise<PageContent | ResponseParts>,
  { renderError = apologize }: HtmlPageOptions = {},
): (request: Request) => Promise<Response> {
  return createHandler(
    page,
    async (call) => {
      const found = await handler(call);
      if (!("content" in found)) return found;
      return respond(page, await render(page, found, hasSessionCookie(call.headers)), call, found);
    },
    {
      renderError: async (error, call) => {
        if (error.status === 429) return askToWait(error, call.headers);
        const shown = renderError(error, call);
        return respond(page, await render(page, shown, hasSessionCookie(call.headers)), call, shown);
      },
    },
  );
}

function render(
  page: Page,
  { title, description, content }: PageContent,
  isSignedIn: boolean,
): Promise<string> {
  return renderHtml(
    <Frame page={page} title={title} description={description} isSignedIn={isSignedIn}>
      {content}
    </Frame>,
  );
}

async function respond(
  page: Page,
  html: string,
  { headers: sent }: HandlerRequest,
  { status = 200, headers = [] }: Pick<PageContent, "status" | "headers"> = {},
): Promise<ResponseParts> {
  const banner = await readSiteBanner();
  return {
    status,
    body: insertNotice(html, showsNotice(banner, page, sent) ? banner : null, page),
    mediaType: "text/html; charset=utf-8",
    headers: page.isShared || page.isSharedWithoutCookies ? ["vary", "Cookie", ...headers] : headers,
    caching: page.isShared && status === 200 ? cachingFor(sent) : "no-store",
  };
}

/** The page is public, unless its sign-in link or a dismissed notice makes it this reader's own. */
function cachingFor(sent: Headers): string {
  const isOrdinary = !hasSessionCookie(sent) && readCookie(sent, "office-notice") === undefined;
  return isOrdinary ? "public, no-cache" : "private, no-cache";
}

function apologize({ status, headers }: ApiError, { context }: HandlerRequest): PageContent {
  return {
    title: "That did not work",
    status,
    headers: Object.entries(headers).flat(),
    content: (
      <div className="narrow">
        <h1>That did not work</h1>
        <p>Something went wrong on our side, and nothing was changed. Reload this page in a moment.</p>
        <p className="quiet">
          If it happens again, quote reference <code>{context.requestId}</code>.
        </p>
        <Support />
      </div>
    ),
  };
}
