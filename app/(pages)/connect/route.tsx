import type { ReactNode } from "react";
import { type Owner, requireOwner } from "@/lib/accounts/owner";
import { clearCookie, cookieHeaders, readCookie } from "@/lib/http/cookies";
import { ApiError } from "@/lib/http/errors";
import type { HandlerRequest } from "@/lib/http/handler";
import { actions, connectEndpoints, documentPages, pages } from "@/lib/http/pages";
import { findRequestingClient, readAuthorizationRequest } from "@/lib/oauth/approval";
import { readRefusal } from "@/lib/oauth/refused-request";
import type { RequestingClient } from "@/lib/oauth/requesting-client";
import { accountScopeWords } from "@/lib/oauth/resources";
import { clientNetwork } from "@/lib/rate-limit/client-address";
import { htmlPage, type Shown } from "../html-page";
import { tellMoment } from "../moment";
import { findProblem, type Problem, ProblemNote, problemOfField } from "../problem";
import { Support } from "../support";

const problems: Record<string, Problem> = {
  app: {
    words:
      "We do not know the app that sent you here, or its request is not valid. Try again from the app. If that fails too, tell its maker.",
  },
  again: { words: "Your session had expired, so your answer was not saved. Answer again." },
  codes: { words: "Too many codes from your network. Try again in ten minutes." },
  code: {
    words: "This code is mistyped, already used or expired. Check it, or start again on the device.",
    isTyped: true,
  },
};

/** The page where an owner approves or declines an app, and types a device code. */
export const GET = htmlPage(pages.connect, async (call) => {
  const query = Object.fromEntries(call.url.searchParams);
  const problem = findProblem(query, problems);
  const refusedUrl = readRefusal(query.refused);
  if (refusedUrl) return { title: "Nothing was connected", content: <Refused to={refusedUrl} /> };
  if (query.answered === "user_code") return returnToDevice(query.outcome === "approved");
  return {
    title: "Connect an app",
    content: (
      <div className="narrow">
        {query.problem === "app" && <h1>Nothing was connected</h1>}
        {!problem?.isTyped && <ProblemNote problem={problem} />}
        {query.away !== undefined && (
          <Onward
            heading="One moment"
            to={`${pages.connect.path}?problem=again`}
            link="See the request again"
          />
        )}
        {query.answered === "request" && (
          <Onward
            heading="Your answer was saved"
            to={connectEndpoints.resume.path}
            link="Continue to the app"
          />
        )}
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
  const reader = await requireOwner(call).catch((failure: unknown) => {
    if (failure instanceof ApiError) return failure;
    throw failure;
  });
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

function Refused({ to }: { to: URL }) {
  return (
    <div className="narrow">
      <h1>Nothing was connected</h1>
      <p>
        An app sent you here with a request that is not valid. We can’t verify this app. Its answers go to{" "}
        <strong>{/^https?:$/.test(to.protocol) ? to.host : to.protocol}</strong>.
      </p>
      <p>
        <a href={to.href} rel="noreferrer">
          Continue to the app
        </a>{" "}
        only if you came from there. Otherwise close this page.
      </p>
      <Support />
    </div>
  );
}

/** A page in between, because the form page's CSP `form-action` does not allow a redirect to an app's address. */
function Onward({ heading, to, link }: { heading: string; to: string; link: string }) {
  return (
    <>
      <meta httpEquiv="refresh" content={`0; url=${to}`} />
      <h1>{heading}</h1>
      <p>
        <a href={to}>{link}</a>
      </p>
    </>
  );
}

/** Clears the cookie, because no request is pending in this browser now. */
function returnToDevice(isApproved: boolean): Shown {
  return {
    title: "Connect an app",
    headers: cookieHeaders([clearCookie("office-request")]),
    content: (
      <div className="narrow">
        <h1>{isApproved ? "Connected" : "Declined"}</h1>
        <p>
          {isApproved ? "Return to your device." : "Nothing was connected."} Your{" "}
          <a href={pages.home.path}>home page</a> lists your connected apps.
        </p>
        <Support />
      </div>
    ),
  };
}

function TypeCode({ problem }: { problem: Problem | undefined }) {
  return (
    <>
      <h1>Connect a device</h1>
      <p>Enter the code that your device or program shows. You will see who is asking before you decide.</p>
      <p>
        <strong>Never enter a code that someone sent or told you</strong>: it would connect their device. We
        never send you such a code.
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
        <button type="submit">Continue</button>
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
      <h1>Connect {client.origin.is === "device" ? "a device" : "an app"}?</h1>
      <ClientDescription client={client} readersNetwork={readersNetwork} />
      <h2>What it can do</h2>
      <p>
        {accountScopeWords}. After a week, it has to ask again. You can disconnect it on your home page at any
        time.
      </p>
      <h2>What it can never do</h2>
      <p>
        A session cannot make an assistant send, publish, deploy or charge; those steps wait for your approval
        in the app.
      </p>
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
          {origin.is !== "site" && " We can’t verify this app."}
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
          <strong>{origin.host}</strong> is asking for access. Your answer goes there.
        </p>
      );
    case "program":
      return (
        <p>
          A program on this computer is asking for access. Your answer goes to <strong>{origin.host}</strong>.
          Approve only a request that you have just started yourself.
        </p>
      );
    case "app":
      return (
        <p>
          An app on this device is asking for access. Your answer goes to the app that opens{" "}
          <strong>{origin.scheme}</strong> links. Approve only a request that you have just started yourself.
        </p>
      );
    case "device":
      return (
        <>
          <p>
            A device or program with a code is asking for access. It can be anywhere. It asked at{" "}
            <time dateTime={new Date(origin.requestedAtMs).toISOString()} data-shows="time">
              {tellMoment(origin.requestedAtMs, "time", "UTC")} UTC
            </time>
            , from {nameNetwork(origin.network, readersNetwork)}.
          </p>
          <p className="problem">
            Approve only if you have just started this yourself and the code is on the device in front of you.
            If someone sent or told you the code, decline: approving would connect their device.
          </p>
        </>
      );
  }
}

function nameNetwork(network: string | undefined, readersNetwork: string | undefined): ReactNode {
  if (!network) return "an unknown network";
  const isSame = network === readersNetwork;
  return (
    <>
      the network <strong className="unbroken">{network}</strong>, which is{" "}
      {isSame ? "the network that you are on now" : "not the network that you are on now"}
    </>
  );
}

function Answer({ reader }: { reader: Reader }) {
  if (reader instanceof ApiError) {
    if (reader.status !== 401) {
      return (
        <p className="problem">We cannot check your account at the moment. Reload this page in a moment.</p>
      );
    }
    return (
      <>
        <p>Sign in first. Your home page then links back to this request.</p>
        <button type="submit" name="answer" value="sign-in">
          Sign in
        </button>
      </>
    );
  }
  if (reader.by !== "owner") {
    return (
      <p className="problem ours">
        You are signed in on behalf of <strong>{reader.account.email}</strong>. Only the owner can approve
        apps.
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
