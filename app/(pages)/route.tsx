import type { ReactNode } from "react";
import { nameOperator } from "@/lib/config/contact";
import { settings } from "@/lib/config/settings";
import { hasSessionCookie } from "@/lib/http/cookies";
import { handlePage } from "@/lib/http/page";
import { files } from "@/lib/http/register/files";
import { forms } from "@/lib/http/register/forms";
import { pages } from "@/lib/http/register/pages";
import { publications } from "@/lib/http/register/publications";
import { ButtonLink } from "./button-link";
import { AboutEmail, EmailField } from "./email-form";
import { Apps, nameApps } from "./front/apps";
import { Prices, PricesInShort, readPrices } from "./front/prices";
import { Questions } from "./front/questions";
import { WaitingJob } from "./front/waiting-job";
import type { Offer } from "./home/billing/offers";
import { wide } from "./html-page";
import { Icon, type IconName } from "./icons";

/** Links from which a program that knows only our address finds everything else (RFC 9727 §3, RFC 8631). */
const discovery = [
  `<${publications.apiCatalog.path}>; rel="api-catalog"`,
  `<${publications.openApi.path}>; rel="service-desc"; type="application/json"`,
  `<${pages.quickStart.path}>; rel="service-doc"; type="text/html"`,
].join(", ");

const withoutPricesSeconds = 5;

/** What a visitor gets, for whom, and with what. It is kept in two copies, one for browsers that look signed in. */
export const { GET } = handlePage(pages.front, wide, async ({ headers, nowMs }) => {
  const prices = await readPrices(nowMs);
  const isSignedIn = hasSessionCookie(headers);
  const asksForPlace = !isSignedIn && settings().signIn.kind !== "none";
  return {
    content: (
      <div className="front">
        <Hero isSignedIn={isSignedIn} offers={prices.offers} />
        <HowItWorks asksForPlace={asksForPlace} />
        <section className="split" aria-labelledby="approve">
          <div>
            <h2 id="approve">Nothing leaves without you</h2>
            <p className="lead">
              Finished work waits in the app that prepared it. You send it, change it, or say what is wrong.
              No program can approve for you, ours included.
            </p>
            <h3>Three jobs to begin with</h3>
            <ul className="jobs">
              <Job icon="mail" title="The inbox, before breakfast">
                Replies are drafted. You send those that you like.
              </Job>
              <Job icon="page" title="The report, every Friday">
                Two pages with the figures. You publish them.
              </Job>
              <Job icon="card" title="The invoices, as they fall due">
                Reminders are prepared. You decide who gets one.
              </Job>
            </ul>
          </div>
          <WaitingJob />
        </section>
        <Prices {...prices} begin={asksForPlace && <ButtonLink to="#email">Join the waitlist</ButtonLink>} />
        <Questions />
        <WhoRunsIt />
      </div>
    ),
    headers: ["link", discovery],
    maxAgeSeconds: !prices.isWhole && withoutPricesSeconds,
  };
});

function Hero({ isSignedIn, offers }: { isSignedIn: boolean; offers: Offer[] }) {
  const [first, second] = nameApps();
  return (
    <div className="hero">
      <div>
        <h1>Run a company of AI assistants</h1>
        <p className="lead">
          For founders who work alone. Assistants prepare the work in {second ? `${first}, ${second}` : first}{" "}
          or your own apps. Nothing is sent, published, deployed or charged until you approve.
        </p>
        {settings().signIn.kind === "none" ? (
          <ButtonLink to={pages.quickStart.path}>Read the documents</ButtonLink>
        ) : isSignedIn ? (
          <ButtonLink to={pages.home.path}>Open your home page</ButtonLink>
        ) : (
          <AskForPlace>
            <PricesInShort offers={offers} />
          </AskForPlace>
        )}
      </div>
      <img
        className="drawing"
        src={files.office.path}
        loading="lazy" // the fonts come first
        width="540"
        height="434"
        alt="An office. Three assistants work at their desks. On the CEO’s desk, in the corner by the windows, a letter waits for approval."
      />
    </div>
  );
}

function AskForPlace({ children }: { children: ReactNode }) {
  return (
    <form className="ask" method="post" action={forms.joinWaitlist.path} noValidate>
      <label htmlFor="email">Your email</label>
      <div>
        <EmailField />
        <button type="submit">Join the waitlist</button>
      </div>
      {children}
      <p className="quiet">
        By invitation only. We email you twice: now, to confirm the address, and when your place is ready.
        Already invited? <a href={pages.signIn.path}>Sign in</a>. <AboutEmail />
      </p>
    </form>
  );
}

/** What one brings, what one gets for it, and what to do now. */
function HowItWorks({ asksForPlace }: { asksForPlace: boolean }) {
  return (
    <section aria-labelledby="how">
      <h2 id="how">How it works</h2>
      <ol className="steps">
        <li>
          <h3>You bring an AI app</h3>
          <Apps />
        </li>
        <li>
          <h3>You run it all from here</h3>
          <p>
            See which apps work for you, stop any with one click, and keep one plan and its credits for all of
            them.
          </p>
        </li>
        <li>
          <h3>{asksForPlace ? "Now: join the waitlist" : "Now: connect your first app"}</h3>
          <p>
            {asksForPlace
              ? "We email you when your place is ready. Then you sign in, connect an app, and approve it once."
              : "It asks you once, here, before it connects."}
          </p>
        </li>
      </ol>
    </section>
  );
}

function Job({ icon, title, children }: { icon: IconName; title: string; children: string }) {
  return (
    <li>
      <Icon name={icon} />
      <div>
        <strong>{title}</strong>
        <p>{children}</p>
      </div>
    </li>
  );
}

function WhoRunsIt() {
  const { supportEmail, sourceUrl } = settings();
  return (
    <section className="strip" aria-labelledby="who">
      <div>
        <h2 id="who">Who runs it</h2>
        <p>
          {nameOperator()}{" "}
          {supportEmail && (
            <>
              Questions go to <a href={`mailto:${supportEmail}`}>{supportEmail}</a>.
            </>
          )}{" "}
          {sourceUrl && (
            <>
              The software is <a href={sourceUrl}>open source</a>.
            </>
          )}
        </p>
      </div>
      <div>
        <h2>For developers</h2>
        <p>
          One request tells your app whether its owner’s plan is active.{" "}
          <a href={pages.quickStart.path}>Quick start</a> · <a href={pages.apiReference.path}>The API</a> ·{" "}
          <a href={pages.mcp.path}>MCP</a>
        </p>
      </div>
    </section>
  );
}
