import type { Session } from "@/lib/auth/sessions/session";
import { knownClients, triedOn } from "@/lib/docs/mcp-clients";
import { pages } from "@/lib/http/register/pages";
import { Icon, Monogram } from "../../icons";
import { isNew, LatestApp } from "../latest-app";
import { type WayToConnect, waysToConnect } from "./ways-to-connect";

type ConnectProps = { sessions: readonly Session[]; nowMs: number };

/** The usual agents and apps to choose from, and the app that was connected a moment ago and has not asked yet. */
export function ConnectSomething({ sessions, nowMs }: ConnectProps) {
  const latest = sessions.find(({ kind }) => kind === "app");
  return (
    <section id="connect-something" className="card">
      <h2>{latest ? "Connect another app" : "Connect an app"}</h2>
      {latest?.checked_at_ms === null && isNew(latest, nowMs) && <LatestApp app={latest} nowMs={nowMs} />}
      <p className="quiet">Choose it. You approve it on this site, and never paste a token.</p>
      <ul className="tiles">
        {Object.entries(waysToConnect()).map(([slug, way]) => (
          <li key={slug}>
            <a href={`${pages.connectApp.path}?app=${slug}`}>
              <MarkOf way={way} />
              {way.name}
            </a>
          </li>
        ))}
        <li>
          <a href={`${pages.connect.path}?user_code`}>
            <Icon name="phone" />
            By a code
          </a>
        </li>
      </ul>
    </section>
  );
}

/** The apps to choose from, as a page of their own. */
function ConnectAny(shown: ConnectProps) {
  return (
    <>
      <h1>Connect an app</h1>
      <ConnectSomething {...shown} />
    </>
  );
}

/** The steps that connect one app. */
export function ConnectOne({ slug, ...shown }: ConnectProps & { slug: string }) {
  const ways = waysToConnect();
  const way = Object.hasOwn(ways, slug) && ways[slug];
  if (!way) return <ConnectAny {...shown} />;
  const { sessions, nowMs } = shown;
  const latest = sessions.find(({ kind }) => kind === "app");
  return (
    <>
      <h1>
        <MarkOf way={way} /> Connect {way.title ?? way.name}
      </h1>
      <section className="card">
        {latest && isNew(latest, nowMs) && <LatestApp app={latest} nowMs={nowMs} />}
        <ol className="numbered">
          {way.steps.map((step, at) => (
            <li key={String(at)}>
              <div>{step}</div>
            </li>
          ))}
          <li>
            <div>This site opens and asks for your approval. You never paste a token.</div>
          </li>
        </ol>
        <Tried name={way.name} />
      </section>
    </>
  );
}

const MarkOf = ({ way: { name, icon } }: { way: WayToConnect }) =>
  icon ? <Icon name={icon} /> : <Monogram name={name} />;

/** How we tried an app. */
function Tried({ name }: { name: string }) {
  const known = knownClients.find((client) => client.name === name);
  if (!known) return null;
  return (
    <p className="quiet">
      {known.tried.startsWith("version") ? `Tried on ${triedOn}, in ${known.tried}` : `Tried ${known.tried}`}.
    </p>
  );
}
