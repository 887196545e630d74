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
        <Jobs />
        <section className="split" aria-labelledby="approve">
          <div>
            <h2 id="approve">Nothing leaves without you</h2>
            <p className="lead">
              Finished work waits for you in the app that prepared it. You send it, change it, or say what is
              wrong.
            </p>
            <ul className="marked">
              <li>
                <Icon name="check" />
                Each app asks you once before it connects, and you end its access with one click.
              </li>
              <li>
                <Icon name="check" />
                Here you see all that works for you, with your plan and your credits.
              </li>
              <li>
                <Icon name="check" />
                Only you approve: no program can, ours included.
              </li>
            </ul>
          </div>
          <WaitingJob />
        </section>
        <Apps />
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
          For founders who work alone. In {second ? `${first}, ${second}` : first} or your own apps,
          assistants prepare the work. Nothing is sent, published, deployed or charged until you approve. Here
          you choose the apps, and stop any at once.
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

function Jobs() {
  return (
    <section aria-labelledby="jobs">
      <h2 id="jobs">Three jobs to begin with</h2>
      <ol className="steps">
        <Job icon="mail" title="The inbox, before breakfast">
          It sorts the night’s mail and drafts the replies. You send those that you like.
        </Job>
        <Job icon="page" title="The report, every Friday">
          It collects the figures and writes two pages. You publish them, or say what is wrong.
        </Job>
        <Job icon="card" title="The invoices, as they fall due">
          It matches payments and prepares the reminders. You decide who gets one.
        </Job>
      </ol>
    </section>
  );
}

function Job({ icon, title, children }: { icon: IconName; title: string; children: string }) {
  return (
    <li>
      <Icon name={icon} />
      <h3>{title}</h3>
      <p>{children}</p>
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
