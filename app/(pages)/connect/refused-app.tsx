import type { ReactNode } from "react";
import { documentPages, pages } from "@/lib/http/register/pages";
import type { Fault } from "@/lib/oauth/refused-request";

/** Why an app was refused before its owner was asked, and what the owner, its maker or the operator can do. */
export function RefusedApp({ fault, host }: { fault: Fault; host: string | undefined }) {
  const { why, remedies } = explanations[fault];
  return (
    <>
      <p>
        {why}
        {host && (
          <>
            {" "}
            The app’s description is at <strong>{host}</strong>.
          </>
        )}
      </p>
      <ul>
        {Object.entries(remedies).map(([who, what]) => (
          <li key={who}>
            <strong>{who}:</strong> {what}
          </li>
        ))}
      </ul>
      <p className="quiet">
        <a href={documentPages.connectAnApp.path}>How apps connect</a>
      </p>
    </>
  );
}

const explanations: Record<Fault, { why: string; remedies: Record<string, ReactNode> }> = {
  unlisted: {
    why: "The app that sent you here is not on the list of apps that this site accepts.",
    remedies: {
      You: "ask the operator of this site to accept the app, or use another app.",
      "Its maker": "let the app register itself (RFC 7591) where its metadata document is not accepted.",
      "The operator": (
        <>
          add the address of its metadata document to <code>CONNECT_CLIENTS</code>. The log names the address.
        </>
      ),
    },
  },
  unreadable: {
    why: "We could not read the description that the app publishes about itself, so we cannot tell where your answer should go.",
    remedies: {
      You: "try again from the app in a few minutes.",
      "Its maker": "check that its metadata document is reachable, valid and allows public clients.",
      "The operator":
        "the log names the reason. If this server cannot reach the internet, set CONNECT_CLIENTS=none: apps then register themselves.",
    },
  },
  unknown: {
    why: "We do not know the app that sent you here. It never registered with this site, or its registration has expired.",
    remedies: {
      You: "remove this site and its sign-in from the app, then add it again, so that the app registers anew.",
      "Its maker": "register again (RFC 7591) when the id that the app has stored is refused.",
      "The operator": (
        <>
          add the app with <code>admin connect add</code> if it cannot register itself.
        </>
      ),
    },
  },
  over: {
    why: "This request is over: it was answered, or it was not answered in time.",
    remedies: {
      You: (
        <>
          look at your <a href={pages.access.path}>access page</a>. If the app is not there, start again from
          the app.
        </>
      ),
    },
  },
  app: {
    why: "The request of the app that sent you here is not valid, for example because it names an address that the app did not register.",
    remedies: {
      You: "try again from the app. If that fails too, remove this site and its sign-in from the app, then add it again.",
      "Its maker": "send the request without a browser: the answer is JSON and names the reason.",
    },
  },
};
