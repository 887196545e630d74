import type { ReactNode } from "react";
import { readCookie } from "@/lib/api/cookies";
import type { ApiError } from "@/lib/api/errors";
import type { HeaderList } from "@/lib/api/headers";
import type { Page } from "@/lib/api/pages";
import { type Call, hall, type PlaceAnswer } from "@/lib/pages/hall";
import { looksSignedIn } from "@/lib/pages/looks-signed-in";
import { putNotice, showsNotice } from "@/lib/pages/notice";
import { readSiteBanner } from "@/lib/site-banner";
import { Frame } from "./frame";
import { Support } from "./support";

/** What a page shows. Without a title it has the site's. */
export type Shown = {
  title?: string;
  description?: string;
  content: ReactNode;
  status?: number;
  headers?: HeaderList;
};

type HtmlPageOptions = {
  /** What is shown of a refusal, or of a failure that nobody foresaw. */
  say?: (error: ApiError, call: Call) => Shown;
  fromAnywhere?: boolean;
};

/**
 * The route handler of a page that is HTML and nothing else: no script but the one that its entry names. The room
 * says what is shown, or answers otherwise.
 */
export function htmlPage(
  page: Page,
  room: (call: Call) => Shown | PlaceAnswer | Promise<Shown | PlaceAnswer>,
  { say = apologize, fromAnywhere = false }: HtmlPageOptions = {},
): (request: Request) => Promise<Response> {
  return hall(
    page,
    async (call) => {
      const found = await room(call);
      return "content" in found ? render(page, found, call) : found;
    },
    { say: (error, call) => render(page, say(error, call), call), fromAnywhere },
  );
}

async function render(page: Page, shown: Shown, call: Call): Promise<PlaceAnswer> {
  const { title, description, content, status = 200, headers = [] } = shown;
  // Next lets no route handler import this by name.
  const { renderToStaticMarkup } = await import("react-dom/server");
  const { headers: sent } = call;
  const isSignedIn = looksSignedIn(sent);
  const whole = (
    <Frame page={page} title={title} description={description} isSignedIn={isSignedIn}>
      {content}
    </Frame>
  );
  const html = `<!doctype html>${renderToStaticMarkup(whole)}`;
  const banner = await readSiteBanner();
  return {
    status,
    body: putNotice(html, showsNotice(banner, page, sent) ? banner : null, page),
    mediaType: "text/html; charset=utf-8",
    headers: page.isShared ? ["vary", "Cookie", ...headers] : headers,
    caching: page.isShared && status === 200 ? cachingFor(sent) : "no-store",
  };
}

/** What is the same for everyone, but for the way in and a notice that was put away: for that reader alone. */
function cachingFor(sent: Headers): string {
  const isOrdinary = !looksSignedIn(sent) && readCookie(sent, "office-notice") === undefined;
  return isOrdinary ? "public, no-cache" : "private, no-cache";
}

function apologize({ status }: ApiError, { visit }: Call): Shown {
  return {
    title: "That did not work",
    status,
    content: (
      <div className="narrow">
        <h1>That did not work</h1>
        <p>Something went wrong on our side, and nothing was changed. Open this page again in a moment.</p>
        <p className="quiet">
          If it happens again, say that it was <code>{visit.requestId}</code>.
        </p>
        <Support />
      </div>
    ),
  };
}
