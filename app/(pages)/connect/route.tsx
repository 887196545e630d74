import type { ReactNode } from "react";
import { type Owner, requireOwner } from "@/lib/accounts/owner";
import { sessionLimits } from "@/lib/docs/words";
import { clearCookie, cookieHeaders, readCookie } from "@/lib/http/cookies";
import { ApiError } from "@/lib/http/errors";
import type { HandlerRequest } from "@/lib/http/handler";
import { actions, connectEndpoints, documentPages, pages } from "@/lib/http/pages";
import { findRequestingClient, readAuthorizationRequest } from "@/lib/oauth/approval";
import { readRefusal } from "@/lib/oauth/refused-request";
import type { RequestingClient } from "@/lib/oauth/requesting-client";
import { accountScopeWords } from "@/lib/oauth/resources";
import { clientNetwork } from "@/lib/rate-limit/client-address";
import { htmlPage } from "../html-page";
import { tellMoment } from "../moment";
import { findProblem, type Problem, ProblemNote, problemOfField } from "../problem";
import { Support } from "../support";

const problems: Record<string, Problem> = {
  app: {
    words:
      "The app that sent you here is not known to us, or asked in a way that we cannot answer. Try again from the app; when that leads here too, tell its maker.",
  },
  again: { words: "Your session had run out, so nothing was answered yet. Answer once more." },
  codes: { words: "Many codes were looked up from here just now. Try again in ten minutes." },
  code: {
    words:
      "No device shows this code now. It was mistyped, it was answered, or it has run out: start again there.",
    isTyped: true,
  },
};

/** The page where an owner approves or declines an app, and types a device code. */
export const GET = htmlPage(pages.connect, async (call) => {
  const query = Object.fromEntries(call.url.searchParams);
  const problem = findProblem(query, problems);
  const refusedUrl = readRefusal(query.refused);
  if (refusedUrl) return { title: "Nobody was let in", content: <Refused to={refusedUrl} /> };
  if (query.answered === "user_code") return backToTheDevice;
  return {
    title: "Connect an app",
    content: (
      <div className="narrow">
        {query.problem === "app" && <h1>Nobody was let in</h1>}
        {!problem?.isTyped && <ProblemNote problem={problem} />}
        {query.away !== undefined && <AnswerAgain />}
        {query.answered === "request" && <BackToTheApp />}
        {!query.answered &&
          query.away === undefined &&
          query.problem !== "app" &&
          (await findQuestion(call, problem))}
        <Support />
      </div>
    ),
  };
});

/**
 * Shows the pending request of this browser, or the field for a device code. While a code is being typed no request is
 * shown: a mistyped code must not lead to the approval of another app, and a person who follows a link with a code has
 * to look at the device.
 */
async function findQuestion(call: HandlerRequest, problem: Problem | undefined): Promise<ReactNode> {
  const { headers, url } = call;
  const isTyping = url.searchParams.has("user_code") || problem?.isTyped;
  const requestCookie = isTyping ? undefined : readCookie(headers, "office-request");
  const authorizationRequest = readAuthorizationRequest(requestCookie);
  const client = authorizationRequest && (await findRequestingClient(authorizationRequest));
  if (!requestCookie || !client) return <TypeCode problem={problem} />;
  const reader = await requireOwner(call).catch(toRefusal);
  return (
    <Approval
      requestCookie={requestCookie}
      client={client}
      reader={reader}
      readersNetwork={clientNetwork(headers)}
    />
  );
}

/** The signed-in owner, or why there is none. Pressing a button repeats the same check. */
type Reader = Owner | ApiError;

function toRefusal(failure: unknown): ApiError {
  if (failure instanceof ApiError) return failure;
  throw failure;
}

function Refused({ to }: { to: URL }) {
  return (
    <div className="narrow">
      <h1>Nobody was let in</h1>
      <p>
        An app sent you here, and asked in a way that we cannot answer. It has made itself known to us by
        itself, so we do not know whose it is: its answers go to <Destination url={to} />.
      </p>
      <p>
        <a href={to.href} rel="noreferrer">
          Go on to it
        </a>{" "}
        only if you came from there. Otherwise close this page.
      </p>
      <Support />
    </div>
  );
}

/** The host of a URL, or the scheme if an app has registered one. */
function Destination({ url: { protocol, host } }: { url: URL }) {
  return <strong>{/^https?:$/.test(protocol) ? host : protocol}</strong>;
}

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

function AnswerAgain() {
  const to = `${pages.connect.path}?problem=again`;
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

/** Clears the cookie, because no request is pending in this browser now. */
const backToTheDevice = {
  title: "Connect an app",
  headers: cookieHeaders([clearCookie("office-request")]),
  content: (
    <div className="narrow">
      <h1>That is all</h1>
      <p>
        Your answer is on its way to the device, which goes on by itself. What you have let in is on your{" "}
        <a href={pages.home.path}>home page</a>, where you can end it.
      </p>
      <Support />
    </div>
  ),
};

function TypeCode({ problem }: { problem: Problem | undefined }) {
  return (
    <>
      <h1>Connect a device</h1>
      <p>
        Type the code that the device or the program in front of you shows. Then you see who asks, and decide.
      </p>
      <p>
        <strong>Never type a code that somebody sent or told you</strong>: it would let their device in.
        Nobody of ours sends you one.
      </p>
      <form method="post" action={actions.findDevice.path} className="stack">
        {problem?.isTyped && <ProblemNote problem={problem} />}
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
          {...problemOfField(problem?.isTyped && problem)}
        />
        <button type="submit">Go on</button>
      </form>
    </>
  );
}

type ApprovalProps = ClientDescriptionProps & {
  /** The cookie value that names the request, so that the answer applies to this request only. */
  requestCookie: string;
  reader: Reader;
};

function Approval({ requestCookie, client, reader, readersNetwork }: ApprovalProps) {
  return (
    <>
      <h1>Let {client.origin.is === "device" ? "a device" : "an app"} in?</h1>
      <ClientDescription client={client} readersNetwork={readersNetwork} />
      <h2>What it may do</h2>
      <p>
        {accountScopeWords}. For a week: then it asks again. On your home page you can end it at any time.
      </p>
      <h2>What it can never do</h2>
      <p>{sessionLimits}</p>
      <form method="post" action={actions.answerApp.path} className="stack">
        <input type="hidden" name="request" value={requestCookie} />
        <Answer reader={reader} />
      </form>
      <p className="quiet">
        <a href={documentPages.connectAnApp.path}>How apps get their tokens</a>
      </p>
    </>
  );
}

type ClientDescriptionProps = { client: RequestingClient; readersNetwork: string | undefined };

/**
 * Describes the client. Verified facts come first, in bold. The name is the app's own claim: it is set apart, so that it
 * cannot change the meaning of our sentences.
 */
function ClientDescription({ client, readersNetwork }: ClientDescriptionProps) {
  const { name, documentHost, origin } = client;
  return (
    <>
      <Origin origin={origin} readersNetwork={readersNetwork} />
      {name && (
        <p>
          It calls itself{" "}
          <q>
            <bdi>{name}</bdi>
          </q>
          {documentHost ? `, an app of ${documentHost}` : ""}.
          {origin.is !== "site" && " We cannot tell whether it is."}
        </p>
      )}
    </>
  );
}

function Origin({
  origin,
  readersNetwork,
}: Pick<RequestingClient, "origin"> & Pick<ClientDescriptionProps, "readersNetwork">) {
  switch (origin.is) {
    case "site":
      return (
        <p>
          <strong>{origin.host}</strong> asks: your answer goes there.
        </p>
      );
    case "program":
      return (
        <p>
          A program on this computer asks: your answer goes to <strong>{origin.host}</strong>. Approve only
          what you have just started yourself.
        </p>
      );
    case "app":
      return (
        <p>
          An app on this device asks: your answer goes to whichever has taken <strong>{origin.scheme}</strong>{" "}
          addresses. Approve only what you have just started yourself.
        </p>
      );
    case "device":
      return (
        <>
          <p>
            A device or a program that shows a code asks, and it may be anywhere. It asked at{" "}
            <time dateTime={new Date(origin.requestedAtMs).toISOString()} data-shows="time">
              {tellMoment(origin.requestedAtMs, "time", "UTC")} UTC
            </time>
            , from {nameNetwork(origin.network, readersNetwork)}.
          </p>
          <p className="problem">
            Approve only if you have just started this yourself, and read the code off the device in front of
            you. If somebody sent or told you the code, decline: you would let their device in.
          </p>
        </>
      );
  }
}

function nameNetwork(network: string | undefined, readersNetwork: string | undefined): ReactNode {
  if (!network) return "a network that we cannot tell";
  const isSame = network === readersNetwork;
  return (
    <>
      the network <strong className="unbroken">{network}</strong>, which is{" "}
      {isSame ? "the one that you are in now" : "not the one that you are in now"}
    </>
  );
}

function Answer({ reader }: { reader: Reader }) {
  if (reader instanceof ApiError) {
    if (reader.status !== 401) {
      return (
        <p className="problem">Your account cannot be checked at the moment. Reload this page shortly.</p>
      );
    }
    return (
      <>
        <p>Sign in first: your home page then leads you back here.</p>
        <button type="submit" name="answer" value="sign-in">
          Sign in
        </button>
      </>
    );
  }
  if (reader.by !== "owner") {
    return (
      <p className="problem ours">
        You are signed in for <strong>{reader.account.email}</strong>. Only they themselves let anybody in.
      </p>
    );
  }
  return (
    <>
      <input type="hidden" name="account" value={reader.account.id} />
      <p>
        You are signed in as <strong>{reader.account.email}</strong>.
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
}
