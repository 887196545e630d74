import { STATUS_CODES } from "node:http";
import * as healthOperation from "@/app/api/health/route";
import { settings } from "@/lib/config/settings";
import { operationWords } from "@/lib/docs/operation-descriptions";
import { operations } from "@/lib/http/operations";
import { actions, files, pages, publications } from "@/lib/http/pages";
import { processSingleton } from "@/lib/process-singleton";
import { AboutEmail, EmailField } from "./email-form";
import { htmlPage } from "./html-page";

/** Links from which a program that knows only our address finds everything else (RFC 9727 §3, RFC 8631). */
const discovery = [
  `<${publications.apiCatalog.path}>; rel="api-catalog"`,
  `<${publications.openApi.path}>; rel="service-desc"; type="application/json"`,
  `<${pages.quickStart.path}>; rel="service-doc"; type="text/html"`,
].join(", ");

export const GET = htmlPage(pages.front, async () => ({
  content: <FrontPage answer={await askHealth()} />,
  headers: ["link", discovery],
}));

function FrontPage({ answer }: { answer: HealthAnswer }) {
  return (
    <div className="front">
      <div className="hero">
        <div>
          <h1>Run a company of AI assistants</h1>
          <p className="lead">
            They work in your own apps. Nothing is sent, published, deployed or charged until you approve it.
          </p>
          {settings().signIn.kind === "none" ? <Closed /> : <AskForPlace />}
        </div>
        <img
          className="drawing"
          src={files.office.path}
          width="540"
          height="434"
          alt="An office. Three assistants work at their desks. On the CEO’s desk, in the corner by the windows, a letter waits for approval."
        />
      </div>
      <ol className="steps">
        <li>
          <h2>They prepare</h2>
          <p>Each assistant has one job, in the apps that you already use.</p>
        </li>
        <li>
          <h2>You approve</h2>
          <p>Finished work waits on your desk. You read it, then approve or decline.</p>
        </li>
        <li>
          <h2>Nothing leaves without you</h2>
          <p>No program, ours included, can approve for you.</p>
        </li>
      </ol>
      <ForDevelopers answer={answer} />
    </div>
  );
}

function AskForPlace() {
  return (
    <form className="ask" method="post" action={actions.joinWaitlist.path}>
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

function Closed() {
  return (
    <p className="actions">
      <a className="button" href={pages.quickStart.path}>
        Read the documents
      </a>
    </p>
  );
}

function ForDevelopers({ answer }: { answer: HealthAnswer }) {
  return (
    <section className="strip" aria-labelledby="developers">
      <div>
        <h2 id="developers">For developers</h2>
        <p>
          One request tells an app whether the company may run. Five operations, one error format, and an MCP
          server with the same answers.
        </p>
        <ul>
          {Object.entries(operations).map(([name, { path, methods }]) => (
            <li key={path}>
              <a href={operationWords[name as keyof typeof operations].page}>
                <span className={`method ${methods[0].toLowerCase()}`}>{methods[0]}</span>
                <code>{path}</code>
              </a>
            </li>
          ))}
        </ul>
        <p className="actions">
          <a className="button plain" href={pages.quickStart.path}>
            Quick start
          </a>
        </p>
      </div>
      <LiveAnswer answer={answer} />
    </section>
  );
}

const shownHeaders = ["content-type", "api-version", "ratelimit-policy", "ratelimit", "cache-control"];

/** A real response of the public handler of `GET /api/health`. */
function LiveAnswer({ answer: { status, headers, body } }: { answer: HealthAnswer }) {
  const { path } = operations.health;
  const lines = shownHeaders.flatMap((name) => (headers.has(name) ? [`${name}: ${headers.get(name)}`] : []));
  return (
    <figure className="terminal">
      <figcaption>
        <span>A response of this service</span>
        <a className="unbroken" href={path}>
          Open it
        </a>
      </figcaption>
      <pre>
        <code>
          {`$ curl -i ${settings().appUrl}${path}\n\n`}
          {`HTTP/1.1 ${status} ${STATUS_CODES[status]}\n${lines.join("\n")}\n\n`}
          {JSON.stringify(body, null, 2)}
        </code>
      </pre>
    </figure>
  );
}

type HealthAnswer = { status: number; headers: Headers; body: unknown };

/** Called once per process, so that views of this page consume no quota. */
function askHealth(): Promise<HealthAnswer> {
  return processSingleton("answer on the front page", async () => {
    const answer = await healthOperation.GET(new Request(`${settings().appUrl}${operations.health.path}`));
    return { status: answer.status, headers: answer.headers, body: await answer.json() };
  });
}
