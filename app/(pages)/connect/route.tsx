import type { ReactNode } from "react";
import { requireOwner } from "@/lib/accounts/require-owner";
import { clientNetwork } from "@/lib/auth/sessions/session-network";
import { renewingSession } from "@/lib/auth/sessions/session-renewal";
import { store } from "@/lib/db/store";
import type { Call, SentHeaders } from "@/lib/http/call";
import { cookieHeaders } from "@/lib/http/cookies";
import { ApiError } from "@/lib/http/errors";
import { type Redirect, redirectTo, withProblem } from "@/lib/http/form";
import { handlePage } from "@/lib/http/page";
import { forms } from "@/lib/http/register/forms";
import { connectEndpoints } from "@/lib/http/register/oauth";
import { pages } from "@/lib/http/register/pages";
import {
  findOutcome,
  findRequestingClient,
  formatUserCode,
  keepSeenRequest,
  readAuthorizationRequest,
} from "@/lib/oauth/approval";
import {
  findRequest,
  handleOf,
  listRequests,
  pageOfAnswer,
  settleRequest,
} from "@/lib/oauth/browser-requests";
import { type Fault, faults, readFaultHost, readRefusal } from "@/lib/oauth/refused-request";
import { readForOwner } from "@/lib/oauth/unlisted-documents";
import { narrow } from "../html-page";
import { Icon } from "../icons";
import { findProblem, type Problem, ProblemNote, problemOfField } from "../problem";
import { Approval, nameWhoAsks, Way } from "./approval";
import { RefusedApp } from "./refused-app";

const problems: Record<string, Problem> = {
  again: { words: "Your session had expired, so your answer was not saved. Answer again." },
  code: {
    words: "This code is mistyped, already used or expired. Check it, or start again on the device.",
    isTyped: true,
  },
};

/** The page where an owner approves or declines an app, and types a device code. */
export const { GET } = handlePage(
  pages.connect,
  narrow,
  // An app usually sends its owner here when their last token, which lives for a minute, has expired.
  renewingSession(async (call) => {
    const query = Object.fromEntries(call.url.searchParams);
    const refusal = readRefusal(query.refused);
    if (refusal) return { title: "Nothing was connected", content: <Refused {...refusal} /> };
    const fault = (Object.keys(faults) as Fault[]).find((known) => known === query.problem);
    if (fault) {
      const content = <RefusedApp fault={fault} host={readFaultHost(query.host)} />;
      return { title: "Nothing was connected", status: 400, content };
    }
    const isApproved = query.outcome === "approved";
    const outcome = isApproved ? "Approved" : "Declined";
    const named = query.request ? `request=${encodeURIComponent(query.request)}` : "";
    const name = query.request && findRequest(call.headers, query.request);
    // Only this browser has its handle, so no link from elsewhere can claim an answer.
    if (query.answered && !name) return redirectTo({ to: withProblem(pages.connect.path, "over") });
    if (query.answered === "app") return { title: "Connected", content: <NothingToDo /> };
    const headers = cookieHeaders(name ? [settleRequest(call.headers, name)] : []);
    if (query.outcome === "taken") return { title: "Nothing was connected", headers, content: <Taken /> };
    if (query.answered === "user_code") {
      return { title: outcome, headers, content: <ReturnToDevice isApproved={isApproved} /> };
    }
    if (query.answered === "request") {
      const link = isApproved ? "Continue to the app" : "Nothing was connected. Return to the app";
      const to = `${connectEndpoints.resume.path}${named && `?${named}`}`;
      return { title: outcome, content: <Onward to={to} link={link} /> };
    }
    if (query.away !== undefined) {
      const to = withProblem(`${pages.connect.path}${named && `?${named}`}`, "again");
      return { title: "One moment", content: <Onward to={to} link="See the request again" /> };
    }
    const problem = findProblem(call.url, problems);
    const found = await findQuestion(call, problem);
    if ("to" in found) return redirectTo(found);
    const { content, ...question } = found;
    return {
      ...question,
      problem,
      content: (
        <>
          {!problem?.isTyped && <ProblemNote problem={problem} />}
          {content}
        </>
      ),
    };
  }),
);

/** The header of a question has no links: nothing leads away from it but its answer. */
type Question = { title: string; status?: number; content: ReactNode; links?: ReactNode };

/**
 * Shows the request that the URL names, or the newest of this browser that waits, or the field for a device code. While a
 * code is being typed no request is shown: a mistyped code must not lead to the approval of another app, and a person who
 * follows a link with a code has to look at the device.
 */
async function findQuestion(call: Call, problem: Problem | undefined): Promise<Question | Redirect> {
  const { headers, url } = call;
  const handle = url.searchParams.get("request");
  const isTyping = url.searchParams.has("user_code") || problem?.isTyped;
  const shown = isTyping ? undefined : await findShown(headers, handle);
  if (!shown) {
    if (handle && !isTyping) return { to: await findEnd(headers, handle, await readSubject(call)) };
    return { title: "Connect a device", content: <TypeCode problem={problem} /> };
  }
  const { name, authorizationRequest } = shown;
  let { client } = shown;
  const reader = await requireOwner(call).catch((failure: unknown) => {
    if (failure instanceof ApiError) return failure;
    throw failure;
  });
  if (!(reader instanceof ApiError) && reader.by === "owner") {
    await keepSeenRequest(await store(), authorizationRequest, reader.account.id);
    const outcome = await readForOwner(client.clientId, reader.account.id, call.nowMs, client.mayAnswer);
    if (outcome === "reading")
      return { title: "Connect an app", content: <Reading at={client.documentHost} /> };
    if (outcome === "read") client = (await findRequestingClient(authorizationRequest)) ?? client;
    if (!client.mayAnswer) return refuse(client);
  }
  return {
    title: `${nameWhoAsks(client.origin)} wants to connect`,
    links: <></>,
    content: (
      <Approval
        request={name}
        client={client}
        userCode={
          authorizationRequest.by === "user_code" ? formatUserCode(authorizationRequest.id) : undefined
        }
        reader={reader}
        requestId={call.requestId}
        readersNetwork={clientNetwork(call.client)}
      />
    ),
  };
}

/** Why an app may not be answered that is described by a document which is not listed: now that this was read, if it could be. */
function refuse({
  isUnread,
  documentHost,
}: {
  isUnread: boolean;
  documentHost: string | undefined;
}): Question {
  const content = <RefusedApp fault={isUnread ? "unreadable" : "app"} host={documentHost} />;
  return { title: "Nothing was connected", status: 400, content };
}

/** The request of this handle, or the newest of this browser, that waits for its owner, and its client. */
async function findShown(headers: SentHeaders, handle: string | null) {
  for (const name of listRequests(headers)) {
    const authorizationRequest =
      !handle || handleOf(name) === handle ? readAuthorizationRequest(name) : undefined;
    const client = authorizationRequest && (await findRequestingClient(authorizationRequest));
    if (client) return { name, authorizationRequest, client };
  }
  return undefined;
}

/** The account of the person who looks, if they are signed in. */
async function readSubject(call: Call): Promise<string | undefined> {
  const owner = await requireOwner(call).catch((failure: unknown) => {
    if (failure instanceof ApiError && failure.status < 500) return undefined;
    throw failure;
  });
  return owner?.account.subject;
}

/** Where a page leads whose request waits no longer: to what became of it. */
async function findEnd(headers: SentHeaders, handle: string, subject: string | undefined): Promise<string> {
  const name = findRequest(headers, handle);
  const request = name && readAuthorizationRequest(name);
  const outcome = request && (await findOutcome(request, subject));
  return outcome ? pageOfAnswer(name, request.by, outcome) : withProblem(pages.connect.path, "over");
}

/** While the host of an app's document has not answered. */
function Reading({ at }: { at: string | undefined }) {
  return (
    <>
      <p>
        We are reading what the app publishes about itself at <strong>{at}</strong>. This takes a few seconds.
      </p>
      <meta httpEquiv="refresh" content="1" />
    </>
  );
}

function Taken() {
  return (
    <p>
      Someone else approved this first, for another account. Nothing was connected to yours. If you did not
      expect that, start again in the app or on the device.
    </p>
  );
}

function NothingToDo() {
  return (
    <p>
      The app has what it needs. You can close this page, or look at <a href={pages.access.path}>your apps</a>
      .
    </p>
  );
}

function Refused({ to, reason }: { to: URL; reason: string | undefined }) {
  return (
    <>
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
      {reason && <p className="quiet">For its maker: {reason}.</p>}
    </>
  );
}

/** A page in between, because the form page's CSP `form-action` does not allow a redirect to an app's address. */
function Onward({ to, link }: { to: string; link: string }) {
  return (
    <>
      <p>
        <a href={to}>{link}</a>
      </p>
      <meta httpEquiv="refresh" content={`0; url=${to}`} />
    </>
  );
}

function ReturnToDevice({ isApproved }: { isApproved: boolean }) {
  return (
    <>
      <Way outcome={isApproved ? "approved" : "declined"} />
      <p className="asks">
        {isApproved ? "Return to your device." : "Nothing was connected."} You can close this page.
      </p>
      {isApproved && (
        <p className="asks quiet">
          You can disconnect it at any time, among <a href={pages.access.path}>your apps</a>.
        </p>
      )}
    </>
  );
}

function TypeCode({ problem }: { problem: Problem | undefined }) {
  return (
    <>
      <p>Enter the code that your device or program shows. Connecting is free.</p>
      <p className="problem caution">
        <Icon name="warning" />
        <span>
          <strong>Never enter a code that someone sent or told you</strong>: it would connect their device. We
          never send you such a code.
        </span>
      </p>
      <form method="post" action={forms.findDevice.path} className="stack">
        {problem?.isTyped && <ProblemNote problem={problem} />}
        <label htmlFor="user-code">Code</label>
        <input
          id="user-code"
          name="user_code"
          className="code"
          autoComplete="off"
          autoCapitalize="characters"
          spellCheck={false}
          placeholder="XXXX-XXXX"
          maxLength={2000} // as long as a text that is pasted whole
          required
          {...problemOfField(problem?.isTyped && problem)}
        />
        <button type="submit">Continue</button>
      </form>
    </>
  );
}
