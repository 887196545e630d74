import { type Caller, identifyCaller } from "@/lib/accounts/caller";
import { readCookie } from "@/lib/api/cookies";
import { actions, connectEndpoints, documentPages, pages } from "@/lib/api/pages";
import { type Ask, type Asking, findAsking, mayLookUp, readAsk } from "@/lib/connect/approval";
import { accountScopeWords } from "@/lib/connect/resources";
import { whatSessionsCannotDo } from "@/lib/docs/words";
import { goTo, withProblem } from "@/lib/pages/form";
import { htmlPage } from "../html-page";
import { findProblem, type Problem, ProblemNote } from "../problem";
import { renewal } from "../renewal";
import { Support } from "../support";

const problems: Record<string, Problem> = {
  app: {
    words:
      "The app that sent you here is not known to us, or asked in a way that we cannot answer. Try again from the app; when that leads here too, tell its maker.",
  },
  again: { words: "Your session had run out, so nothing was answered yet. Answer once more." },
  codes: { words: "Many codes were looked up from here just now. Try again in ten minutes." },
};

/** Where the owner of an account lets an app in or turns it away, and types the code that a device shows. */
export const GET = htmlPage(pages.connect, async ({ url, headers, visit }) => {
  const query = Object.fromEntries(url.searchParams);
  const uid = readCookie(headers, "office-request");
  const code = query.user_code;
  if (code && !(await mayLookUp(headers))) return goTo({ to: withProblem(pages.connect.path, "codes") });
  const ask = readAsk((name) => (name === "user_code" ? code : code ? undefined : uid));
  const asking = ask && (await findAsking(ask, uid));
  const isAsked = !query.answered && query.away === undefined && query.problem !== "app";
  const caller = isAsked && asking ? await identifyCaller(headers, visit, undefined) : undefined;
  // A browser's session token lives a minute, its session a week: most who come to answer only have to renew.
  if (caller?.is === "signed-out" && query.renewed === undefined && readCookie(headers, "office-client")) {
    const more = code ? `&user_code=${encodeURIComponent(code)}` : "";
    return goTo({ to: `${actions.renewSession.path}?to=connect${more}` });
  }
  return {
    title: "Connect an app",
    content: (
      <div className="narrow">
        {query.problem === "app" && <h1>Nobody was let in</h1>}
        <ProblemNote problem={findProblem(query, problems)} />
        {query.away !== undefined && <AnswerAgain code={code} />}
        {query.answered === "request" && <BackToTheApp />}
        {query.answered === "user_code" && <BackToTheDevice />}
        {ask && asking && caller && <Approval ask={ask} asking={asking} caller={caller} />}
        {isAsked && !asking && <TypeCode wasUnknown={Boolean(code)} />}
        <Support />
      </div>
    ),
  };
});

function BackToTheApp() {
  const { path } = connectEndpoints.resume;
  return (
    <>
      <meta httpEquiv="refresh" content={`0; url=${path}`} />
      <h1>Back to the app</h1>
      <p>
        Your answer is on its way. <a href={path}>Go on to the app</a>
      </p>
    </>
  );
}

function AnswerAgain({ code = "" }: { code: string | undefined }) {
  const to = `${pages.connect.path}?problem=again${code && `&user_code=${encodeURIComponent(code)}`}`;
  return (
    <>
      <meta httpEquiv="refresh" content={`0; url=${to}`} />
      <h1>One moment</h1>
      <p>
        <a href={to}>See again who asks</a>
      </p>
    </>
  );
}

function BackToTheDevice() {
  return (
    <>
      <h1>That is all</h1>
      <p>
        Your answer is on its way to the device, which goes on by itself. What you have let in is on your{" "}
        <a href={pages.home.path}>home page</a>, where you can end it.
      </p>
    </>
  );
}

/** A GET form: looking a code up changes nothing. */
function TypeCode({ wasUnknown }: { wasUnknown: boolean }) {
  return (
    <>
      <h1>Connect a device</h1>
      {wasUnknown && (
        <p className="problem" role="alert" id="problem">
          No device shows this code now. It was mistyped, it was answered, or it has run out: start again
          there.
        </p>
      )}
      <p>Type the code that the device or the program shows. Then you see who asks, and decide.</p>
      <form action={pages.connect.path} className="stack">
        <label htmlFor="user-code">Code</label>
        <input
          id="user-code"
          name="user_code"
          className="code"
          autoComplete="off"
          autoCapitalize="characters"
          spellCheck={false}
          maxLength={12}
          required
          aria-invalid={wasUnknown || undefined}
          aria-describedby={wasUnknown ? "problem" : undefined}
        />
        <button type="submit">Go on</button>
      </form>
    </>
  );
}

function Approval({ ask, asking, caller }: { ask: Ask; asking: Asking; caller: Caller }) {
  return (
    <>
      <h1>Let “{asking.name}” in?</h1>
      <WhoAsks ask={ask} asking={asking} />
      <h2>What it may do</h2>
      <p>
        {accountScopeWords}. For a week: then it asks again. On your home page you can end it at any time.
      </p>
      <h2>What it can never do</h2>
      <p>{whatSessionsCannotDo}</p>
      <form method="post" action={actions.answerApp.path} className="stack">
        <input type="hidden" name={ask.by} value={ask.by === "request" ? ask.uid : ask.code} />
        <Decision caller={caller} />
      </form>
      <p className="quiet">
        <a href={documentPages.connectAnApp.path}>How apps get their tokens</a>
      </p>
    </>
  );
}

function WhoAsks({ ask, asking }: { ask: Ask; asking: Asking }) {
  const { redirectsTo } = asking;
  return (
    <>
      <p>
        {sayWhence(asking)}
        {redirectsTo && ` The answer goes to ${redirectsTo}.`}
      </p>
      {ask.by === "user_code" && (
        <p className="problem">
          Only go on if you have just started this yourself, and the device in front of you shows{" "}
          <strong className="unbroken">{ask.code}</strong>. Nobody of ours ever sends you a code to type here.
        </p>
      )}
    </>
  );
}

/** Any program on a device can show the name of another: what is read at a host proves who gets an answer sent over https. */
function sayWhence({ host, redirectsTo }: Asking): string {
  if (!host) return "It is a program or a device. We cannot tell whether it is what it says.";
  if (redirectsTo?.startsWith("https:")) return `It is from ${host}: that is where we have read who it is.`;
  return `It says that it is from ${host}. It is a program on a device of yours: we cannot tell whether it is what it says.`;
}

const keepsSession = { "data-renews-at": renewal.renewsAt, "data-when-over": renewal.whenOver };

function Decision({ caller }: { caller: Caller }) {
  switch (caller.is) {
    case "account":
      return (
        <>
          <p {...(caller.session.kind !== "clerk" && keepsSession)}>
            You are signed in as <strong>{caller.account.email}</strong>.
          </p>
          <div className="actions">
            <button type="submit" name="answer" value="approve" className="plain">
              Approve
            </button>
            <button type="submit" name="answer" value="decline" className="plain">
              Decline
            </button>
          </div>
        </>
      );
    case "signed-out":
      return (
        <>
          <p>Sign in first: your home page then leads you back here.</p>
          <button type="submit" name="answer" value="sign-in">
            Sign in
          </button>
        </>
      );
    default:
      return (
        <p className="problem">Your account cannot be checked at the moment. Reload this page shortly.</p>
      );
  }
}
