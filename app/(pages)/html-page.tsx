import type { ReactNode } from "react";
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
  // What is the same for everyone shows everyone the same way in.
  const isSignedIn = !page.isShared && looksSignedIn(call.headers);
  const whole = <Frame {...{ page, title, description, isSignedIn }}>{content}</Frame>;
  const html = `<!doctype html>${renderToStaticMarkup(whole)}`;
  const banner = await readSiteBanner();
  return {
    status,
    body: putNotice(html, showsNotice(banner, page) ? banner : null),
    mediaType: "text/html; charset=utf-8",
    headers,
    caching: page.isShared && status === 200 ? "public, no-cache" : "no-store",
  };
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
