import type { ReactNode } from "react";
import { files, type Page, pages } from "@/lib/api/pages";
import { versioned } from "@/lib/pages/assets";
import { settings } from "@/lib/settings/settings";

const tagline = "A person runs a company of AI assistants. This is its public HTTP API.";

type FrameProps = {
  page: Page;
  title: string | undefined;
  description: string | undefined;
  children: ReactNode;
};

/** A page as a whole: what is around its own content, and what a browser and a crawler read in its head. */
export function Frame({ page, title, description = tagline, children }: FrameProps) {
  const isDocument = page.loads.includes("documents");
  return (
    <html lang="en">
      <head>
        <meta charSet="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>{title ? `${title} · Corner Office` : "Corner Office"}</title>
        <meta name="description" content={description} />
        {page.isCrawled ? (
          <SocialCard page={page} title={title} description={description} />
        ) : (
          <meta name="robots" content="noindex" />
        )}
        <HeadLinks />
        {isDocument && <link rel="stylesheet" href={versioned(files.documentsStyle)} />}
        {isDocument && <script defer src={versioned(files.documentsScript)} />}
      </head>
      <Body>
        {/* What is there at the moment is put in where the page is sent: lib/pages/notice.ts. */}
        <div className="notice" />
        {children}
      </Body>
    </html>
  );
}

/** The style and the icons of every page. */
export function HeadLinks() {
  return (
    <>
      <link rel="stylesheet" href={versioned(files.style)} />
      <link rel="icon" href={files.icon.path} sizes="32x32" />
      <link rel="icon" href={files.vectorIcon.path} type="image/svg+xml" />
      <link rel="apple-touch-icon" href={files.touchIcon.path} />
    </>
  );
}

/** What others show of a link to the page. Its addresses have to be whole. */
function SocialCard({ page, title, description }: Omit<FrameProps, "children">) {
  const { appUrl } = settings();
  const isDocument = page.loads.includes("documents");
  return (
    <>
      <meta property="og:type" content={isDocument ? "article" : "website"} />
      <meta property="og:site_name" content="Corner Office" />
      <meta property="og:title" content={title ?? "Corner Office"} />
      <meta property="og:description" content={description} />
      <meta property="og:url" content={`${appUrl}${page.path}`} />
      <meta property="og:image" content={`${appUrl}${files.socialCard.path}`} />
      <meta name="twitter:card" content="summary_large_image" />
    </>
  );
}

/** The body of every page: the way round the site, and the content. */
export function Body({ children }: { children: ReactNode }) {
  return (
    <body>
      <a className="skip" href="#main">
        Skip to the content
      </a>
      <header>
        <nav aria-label="Main">
          <a className="brand" href={pages.front.path}>
            Corner Office
          </a>
          <a href={pages.quickStart.path}>Documents</a>
          <a href={pages.signIn.path}>Sign in</a>
        </nav>
      </header>
      <main id="main">{children}</main>
    </body>
  );
}
