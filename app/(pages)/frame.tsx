import type { ReactNode } from "react";
import { settings } from "@/lib/config/settings";
import { colours } from "@/lib/config/theme";
import type { Appearance } from "@/lib/http/appearance";
import { versioned } from "@/lib/http/assets";
import { isClerks } from "@/lib/http/content-security-policy";
import { files } from "@/lib/http/register/files";
import { forms } from "@/lib/http/register/forms";
import { type Page, pages } from "@/lib/http/register/pages";
import type { Announcement } from "@/lib/site-banner";
import { SiteHeader } from "./site-header";
import { SocialCard } from "./social-card";

const tagline = "Run a company of AI assistants: they prepare, you approve, and nothing leaves without you.";

type FrameProps = {
  page: Page;
  notice: Announcement | null;
  title: string | undefined;
  description: string | undefined;
  isSignedIn: boolean;
  /** What was chosen in this browser. */
  look: Appearance;
  /** The links of the header; without them those of the public site. */
  links?: ReactNode;
  children: ReactNode;
};

/** A whole HTML page: the head that browsers and crawlers read, and the layout around the content. */
export function Frame({
  page,
  notice,
  title,
  description = tagline,
  isSignedIn,
  look,
  links,
  children,
}: FrameProps) {
  const isDocument = page.loads.includes("documents");
  const isHome = page.loads.includes("home");
  const style = isDocument ? files.documentsStyle : isHome ? files.homeStyle : files.style;
  return (
    <html lang="en" data-look={look === "system" ? undefined : look}>
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
        {[files.serif, files.sans].map(({ path }) => (
          <link key={path} rel="preload" href={path} as="font" type="font/woff2" crossOrigin="anonymous" />
        ))}
        <link rel="stylesheet" href={versioned(style)} />
        <link rel="icon" href={files.icon.path} sizes="32x32" />
        <link rel="icon" href={files.vectorIcon.path} type="image/svg+xml" />
        {page.access === "session" && <link rel="manifest" href={versioned(files.manifest)} />}
        <link rel="apple-touch-icon" href={files.touchIcon.path} />
        {look !== "dark" && (
          <meta name="theme-color" media={mediaOf(look, "light")} content={colours.paper[0]} />
        )}
        {look !== "light" && (
          <meta name="theme-color" media={mediaOf(look, "dark")} content={colours.paper[1]} />
        )}
        {isDocument && <script defer src={versioned(files.documentsScript)} />}
        {page.loads.includes("pages") && <script defer src={versioned(files.script)} />}
        {isHome && <script defer src={versioned(files.homeScript)} />}
        {isClerks(page) && <script defer src={versioned(files.clerkScript)} />}
      </head>
      <body>
        <SiteHeader home={pages.front.path} name="Corner Office">
          {links ?? (
            <>
              <a href={pages.quickStart.path} aria-current={isDocument ? "true" : undefined}>
                Documents
              </a>
              <SessionLink isSignedIn={isSignedIn} at={page} />
            </>
          )}
        </SiteHeader>
        <main id="main">
          <div className="notice">{notice && <Notice banner={notice} page={page} />}</div>
          {children}
        </main>
        <Foot />
      </body>
    </html>
  );
}

const mediaOf = (look: Appearance, theme: "light" | "dark") =>
  look === "system" ? `(prefers-color-scheme: ${theme})` : undefined;

function Notice({ banner: { id, kind, message }, page }: { banner: Announcement; page: Page }) {
  return (
    <aside className="banner" data-kind={kind} aria-label="Notice">
      <p>{message}</p>
      {/* `/unsubscribe` sends no referrer, so its browser cannot prove the origin of the form. */}
      {page.path !== pages.unsubscribe.path && (
        <form method="post" action={forms.dismissNotice.path}>
          <input type="hidden" name="notice" value={id} />
          <button type="submit" className="linklike" aria-label="Dismiss this notice">
            ×
          </button>
        </form>
      )}
    </aside>
  );
}

/** A link to home or to sign-in; nothing while someone signs in, and when that is not configured. */
function SessionLink({ isSignedIn, at }: { isSignedIn: boolean; at: Page }) {
  if (settings().signIn.kind === "none") return null;
  const [to, words] = isSignedIn ? [pages.home, "Home"] : [pages.signIn, "Sign in"];
  if (to === at || at === pages.code) return null;
  return (
    <a className="button plain small" href={to.path}>
      {words}
    </a>
  );
}

function Foot() {
  const { appUrl, supportEmail, operatorName, privacyUrl, termsUrl, sourceUrl } = settings();
  return (
    <footer className="foot">
      <nav aria-label="More">
        <p>
          Corner Office at {new URL(appUrl).host}
          {operatorName && `, run by ${operatorName}`}
        </p>
        <a href={pages.quickStart.path}>Documents</a>
        <a href={pages.status.path}>Status</a>
        <a href={pages.changes.path}>Changes</a>
        {supportEmail && <a href={`mailto:${supportEmail}`}>Contact</a>}
        <a href={privacyUrl ?? pages.privacy.path}>Privacy</a>
        <a href={termsUrl ?? pages.terms.path}>Terms</a>
        {sourceUrl && <a href={sourceUrl}>Source</a>}
        <a href={files.licence.path}>Software licence</a>
      </nav>
    </footer>
  );
}
