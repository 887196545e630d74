import { nameOperator } from "@/lib/config/contact";
import { settings } from "@/lib/config/settings";
import { hasSessionCookie } from "@/lib/http/cookies";
import { handlePage } from "@/lib/http/page";
import { toPlatform } from "@/lib/http/platform";
import { files } from "@/lib/http/register/files";
import { forms } from "@/lib/http/register/forms";
import { pages } from "@/lib/http/register/pages";
import { publications } from "@/lib/http/register/publications";
import { ButtonLink } from "./button-link";
import { AboutEmail, EmailField } from "./email-form";
import { ApprovalScreen } from "./front/approval-screen";
import { Apps, nameApps } from "./front/apps";
import { Prices, readPrices } from "./front/prices";
import { Questions } from "./front/questions";
import { wide } from "./html-page";

/** Links from which a program that knows only our address finds everything else (RFC 9727 §3, RFC 8631). */
const discovery = [
  `<${publications.apiCatalog.path}>; rel="api-catalog"`,
  `<${publications.openApi.path}>; rel="service-desc"; type="application/json"`,
  `<${pages.quickStart.path}>; rel="service-doc"; type="text/html"`,
].join(", ");

const withoutPricesSeconds = 5;

/** What a visitor gets, for whom, and with what. It is kept in two copies, one for browsers that look signed in. */
export const { GET } = toPlatform(
  handlePage(
    pages.front,
    async ({ headers, nowMs }) => {
      const prices = await readPrices(nowMs);
      return {
        content: (
          <div className="front">
            <Hero isSignedIn={hasSessionCookie(headers)} />
            <Jobs />
            <section className="split" aria-labelledby="approve">
              <div>
                <h2 id="approve">Nothing leaves without you</h2>
                <p className="lead">
                  An app asks once to connect, on this screen. Then it knows whether your company may run, and
                  how many credits are left: nothing more.
                </p>
                <p>Finished work waits for you in the app. No program, ours included, can approve for you.</p>
              </div>
              {settings().signIn.kind !== "none" && <ApprovalScreen />}
            </section>
            <Apps />
            <Prices {...prices} />
            <Questions />
            <WhoRunsIt />
          </div>
        ),
        headers: ["link", discovery],
        maxAgeSeconds: !prices.isWhole && withoutPricesSeconds,
      };
    },
    wide,
  ),
);

function Hero({ isSignedIn }: { isSignedIn: boolean }) {
  const [first, second] = nameApps();
  return (
    <div className="hero">
      <div>
        <h1>Run a company of AI assistants</h1>
        <p className="lead">
          For one person with the work of ten. Assistants in {second ? `${first}, ${second}` : first} or your
          own apps prepare it, and nothing is sent, published, deployed or charged until you approve.
        </p>
        {settings().signIn.kind === "none" ? (
          <ButtonLink to={pages.quickStart.path}>Read the documents</ButtonLink>
        ) : isSignedIn ? (
          <ButtonLink to={pages.home.path}>Open your home page</ButtonLink>
        ) : (
          <AskForPlace />
        )}
      </div>
      <img
        className="drawing"
        src={files.office.path}
        width="540"
        height="434"
        alt="An office. Three assistants work at their desks. On the CEO’s desk, in the corner by the windows, a letter waits for approval."
      />
    </div>
  );
}

function AskForPlace() {
  return (
    <form className="ask" method="post" action={forms.joinWaitlist.path} noValidate>
      <label htmlFor="email">Your email</label>
      <div>
        <EmailField />
        <button type="submit">Join the waitlist</button>
      </div>
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
        <li>
          <h3>The inbox, before breakfast</h3>
          <p>It sorts the night’s mail and drafts the replies. You send those that you like.</p>
        </li>
        <li>
          <h3>The report, every Friday</h3>
          <p>It collects the figures and writes two pages. You publish them, or say what is wrong.</p>
        </li>
        <li>
          <h3>The invoices, as they fall due</h3>
          <p>It matches payments and prepares the reminders. You decide who gets one.</p>
        </li>
      </ol>
    </section>
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
          One request tells your app whether the company may run.{" "}
          <a href={pages.quickStart.path}>Quick start</a> · <a href={pages.apiReference.path}>The API</a> ·{" "}
          <a href={pages.mcp.path}>MCP</a>
        </p>
      </div>
    </section>
  );
}
