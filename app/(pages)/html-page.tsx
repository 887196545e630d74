import type { ReactNode } from "react";
import { readAppearance } from "@/lib/http/appearance";
import type { Call, SentHeaders } from "@/lib/http/call";
import { hasSessionCookie, readCookie } from "@/lib/http/cookies";
import { showsNotice } from "@/lib/http/dismissed-notice";
import type { ApiError } from "@/lib/http/errors";
import type { PageOptions } from "@/lib/http/page";
import { askToWait } from "@/lib/http/plain-page";
import type { Page } from "@/lib/http/register/pages";
import { renderHtml } from "@/lib/http/render-html";
import type { HeaderList, ResponseParts } from "@/lib/http/response";
import { readAnnouncement } from "@/lib/site-banner";
import { Frame } from "./frame";
import { type Problem, Reference, unknownOutcome } from "./problem";
import { Support } from "./support";
import { inZone } from "./zoned-times";

/** The content of a page. Without a title it has the site's. */
export type PageContent = {
  title?: string;
  description?: string;
  /** The problem of the page's form: screen readers read it first. */
  problem?: Problem | undefined;
  content: ReactNode;
  /** The time zone in which its times are shown; in UTC without one. */
  zone?: string | null;
  /** The links of the page's header, instead of those of the public site. */
  links?: ReactNode;
  status?: number;
  headers?: HeaderList;
  /** How long a copy of a shared page may be shown that lacks something now. */
  maxAgeSeconds?: number | false;
};

type SitePages = PageOptions<PageContent, unknown, Page>;

/** The pages of the public site. */
export const wide: Pick<SitePages, "lay" | "explain"> = {
  lay,
  explain: explainBy((error, call) => inColumn(apologize(error, call))),
};

/** Those with one purpose: a narrow column under its title. */
export const narrow: typeof wide = {
  lay: (shown, call, page) => lay(inColumn(shown), call, page),
  explain: explainBy(apologize),
};

/** Says why a page cannot be shown. One that was asked for too often asks its reader to wait. */
export function explainBy(say: (error: ApiError, call: Call) => PageContent): SitePages["explain"] {
  return (error, call) =>
    [429, 499].includes(error.status) || error.reason === "overloaded"
      ? askToWait(error, call.headers)
      : say(error, call);
}

function inColumn({ content, ...shown }: PageContent): PageContent {
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

async function lay(
  {
    title,
    description,
    problem,
    content,
    zone,
    links,
    status = 200,
    headers = [],
    maxAgeSeconds,
  }: PageContent,
  { headers: sent }: Call,
  page: Page,
): Promise<ResponseParts> {
  const banner = await readAnnouncement();
  const body = await renderHtml(
    <Frame
      page={page}
      notice={showsNotice(banner, page, sent) ? banner : null}
      title={problem ? `${problem.words} · ${title}` : title}
      description={description}
      isSignedIn={hasSessionCookie(sent)}
      look={readAppearance(sent)}
      links={links}
    >
      {content}
    </Frame>,
  );
  return {
    status,
    body: zone ? inZone(body, zone) : body,
    mediaType: "text/html; charset=utf-8",
    headers: page.isShared || page.isSharedWithoutCookies ? ["vary", "Cookie", ...headers] : headers,
    caching: page.isShared && status === 200 ? cachingFor(sent, maxAgeSeconds) : "no-store",
  };
}

/** The page is public, unless its sign-in link, a dismissed notice or its look makes it this reader's own. */
function cachingFor(sent: SentHeaders, maxAgeSeconds: PageContent["maxAgeSeconds"]): string {
  const isOrdinary =
    !hasSessionCookie(sent) &&
    readCookie(sent, "office-notice") === undefined &&
    readAppearance(sent) === "system";
  return `${isOrdinary ? "public" : "private"}, ${maxAgeSeconds ? `max-age=${maxAgeSeconds}` : "no-cache"}`;
}

function apologize({ status, reason, headers }: ApiError, { requestId }: Call): PageContent {
  return {
    title: "That did not work",
    status,
    headers: Object.entries(headers).flat(),
    content: (
      <>
        <p>
          {reason === "unknown outcome"
            ? unknownOutcome
            : "Something went wrong on our side, and nothing was changed. Reload this page in a moment."}
        </p>
        <p className="quiet">
          <Reference id={requestId} />
        </p>
      </>
    ),
  };
}
