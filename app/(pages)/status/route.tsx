import { pages } from "@/lib/api/pages";
import { within } from "@/lib/process/deadline";
import { whatIsNotReady } from "@/lib/process/readiness";
import { settings } from "@/lib/settings/settings";
import { findBanner, readSiteBanner } from "@/lib/site-banner";
import { store } from "@/lib/store/store";
import { htmlPage } from "../html-page";
import { Light, type LightColour } from "../light";

const storeWithinMs = 2000; // as long as an account's read may take

/** What this service knows of itself at this moment. It keeps no history, so it shows none. */
export const GET = htmlPage(pages.status, async ({ nowMs }) => {
  const [parts, notice] = await Promise.all([lookAround(), readSiteBanner(nowMs)]);
  const worst =
    parts.find(({ colour }) => colour === "stopped") ?? parts.find(({ colour }) => colour === "soon");
  return {
    title: "Status",
    description: "What this service knows of itself now.",
    content: (
      <>
        <h1>{worst ? worst.headline : "Everything works"}</h1>
        <p className="lead">
          Seen by the instance that answered you, at{" "}
          <time dateTime={new Date(nowMs).toISOString()}>
            {new Date(nowMs).toISOString().slice(11, 19)} UTC
          </time>
          .
        </p>
        <ul className="parts">
          {parts.map(({ name, colour, says }) => (
            <li key={name}>
              <h2>{name}</h2>
              <Light colour={colour}>{says}</Light>
            </li>
          ))}
        </ul>
        <h2>Notice</h2>
        <p>{notice ? notice.message : "There is none."}</p>
        <p className="actions">
          <a className="button plain" href={pages.status.path}>
            Look again
          </a>
        </p>
        <p className="quiet">
          Monitors ask <a href={pages.healthOperation.path}>GET /api/health</a>.
        </p>
      </>
    ),
  };
});

type Part = { name: string; colour: LightColour; says: string; headline: string };

async function lookAround(): Promise<Part[]> {
  const isStoreThere = await within(storeWithinMs, store().then(findBanner)).then(
    () => true,
    () => false,
  );
  const missing = whatIsNotReady();
  const hasSignIn = settings().signIn.kind !== "none";
  return [
    {
      name: "Public API",
      colour: missing.length === 0 ? "good" : "soon",
      says: missing.length === 0 ? "Answers" : "Answers, and takes no new visitors",
      headline: "This instance is stopping or starting",
    },
    {
      name: "Accounts and credits",
      colour: isStoreThere ? (hasSignIn ? "good" : "soon") : "stopped",
      says: isStoreThere ? (hasSignIn ? "Can be read" : "Nobody can sign in here") : "Cannot be read",
      headline: isStoreThere ? "Sign-in is not set up" : "Accounts cannot be read at the moment",
    },
    {
      name: "Documents and MCP",
      colour: "good",
      says: "Answer",
      headline: "",
    },
  ];
}
