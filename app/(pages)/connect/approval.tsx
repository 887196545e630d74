import type { ReactNode } from "react";
import type { Account } from "@/lib/accounts/account";
import type { Owner } from "@/lib/accounts/require-owner";
import { sessionDays } from "@/lib/config/lifetimes";
import { settings } from "@/lib/config/settings";
import { ApiError } from "@/lib/http/errors";
import { forms } from "@/lib/http/register/forms";
import type { RequestingClient } from "@/lib/oauth/requesting-client";
import { accountScopeWords } from "@/lib/oauth/resources";
import { Clock } from "../clock";
import { Icon, Monogram } from "../icons";
import { Mark } from "../logo";
import { PostForm } from "../post-form";
import { Reference } from "../problem";

/** The signed-in owner, or why there is none. Pressing a button repeats the same check. */
type Reader = (Pick<Owner, "by"> & { account: Pick<Account, "id" | "email"> }) | ApiError;

type ApprovalProps = {
  client: Pick<RequestingClient, "name" | "documentHost" | "origin"> & { isUnread: boolean };
  /** The code that was typed, as the device shows it. */
  userCode: string | undefined;
  readersNetwork: string | undefined;
  /** The request's name in the cookie, so that the answer applies to this request only. */
  request: string;
  reader: Reader;
  /** The id of the page's request, under which the log says why the account could not be read. */
  requestId: string;
};

/**
 * The app, the access that it asks for, and the form by which the owner approves or declines. The title says what is verified
 * of who asks. The name is the app's own claim: it is set apart, so that it cannot change the meaning of our sentences.
 */
export function Approval({ request, client, reader, requestId, ...read }: ApprovalProps) {
  const { origin } = client;
  return (
    <>
      <Way origin={origin} />
      <Claim {...client} />
      {origin.is === "device" && <Asked origin={origin} {...read} />}
      <p className="problem caution">
        <Icon name="warning" />
        <span>
          {origin.is === "device"
            ? "Approve only if you have just started this yourself and the code is on the device in front of you. If someone sent or told you the code, do not approve: you would connect their device."
            : "Approve only a request that you have just started yourself."}
        </span>
      </p>
      <div className="abilities">
        <div>
          <h2>Approving lets it</h2>
          <ul className="marked">
            <li>
              <Icon name="check" />
              {accountScopeWords}
            </li>
            <li>
              <Icon name="check" />
              Stay connected until you disconnect it, {sessionDays.app} days at most, {sessionDays.idle} if
              unused
            </li>
          </ul>
        </div>
        <div>
          <h2>Approving never lets it</h2>
          <ul className="marked">
            {never.map((words) => (
              <li key={words} data-is-never="">
                <Icon name="cross" />
                {words}
              </li>
            ))}
          </ul>
        </div>
      </div>
      <PostForm action={forms.answerApp.path} hidden={{ request }} className="stack answer">
        <Answer reader={reader} requestId={requestId} />
      </PostForm>
      <Whither origin={origin} />
    </>
  );
}

const never = ["Send, publish or deploy anything", "Charge anyone", "Approve in your place"];

const icons = { program: "program", app: "app", device: "phone" } as const;

type WayProps = Pick<RequestingClient, "origin"> | { outcome: "approved" | "declined" };

/** From whom to whom, as a drawing; or a device, and what became of its request. */
export function Way(shown: WayProps) {
  const outcome = "outcome" in shown ? shown.outcome : undefined;
  const origin = "origin" in shown ? shown.origin : ({ is: "device" } as const);
  return (
    <div className="way-to" aria-hidden="true">
      {origin.is === "site" ? <Monogram name={nameIn(origin.host)} /> : <Icon name={icons[origin.is]} />}
      <i />
      {outcome && (
        <>
          <Icon name={outcome === "approved" ? "check" : "cross"} outcome={outcome} />
          <i />
        </>
      )}
      <Mark />
    </div>
  );
}

/** The part of a host that its owner chose: `claude` of `claude.ai`, `example` of `app.example.co.uk`. */
const nameIn = (host: string) =>
  host.split(".").reduce((longest, part) => (part.length > longest.length ? part : longest));

/** Who asks, as a title says it: what is verified of a client. */
export function nameWhoAsks(origin: RequestingClient["origin"]): string {
  if (origin.is === "site") return origin.host;
  return { program: "A program on this computer", app: "An app on this device", device: "A device" }[
    origin.is
  ];
}

/** What a client claims of itself. */
function Claim({ name, documentHost, origin, isUnread }: ApprovalProps["client"]) {
  const isSite = origin.is === "site";
  if (isUnread)
    return <p className="asks">It is described at {documentHost}, which we read once you are signed in.</p>;
  if (!name && documentHost)
    return <p className="asks">It gave no name. It says that it is an app of {documentHost}.</p>;
  if (!name) return !isSite && <p className="asks">It gave no name.</p>;
  return (
    <p className="asks">
      It calls itself{" "}
      <q>
        <bdi>{name}</bdi>
      </q>
      {documentHost ? `, an app of ${documentHost}` : isSite && ", which we can’t verify"}.
      {!isSite && " We can’t verify this app."}
    </p>
  );
}

type AskedProps = Pick<ApprovalProps, "userCode" | "readersNetwork"> & {
  origin: Extract<RequestingClient["origin"], { is: "device" }>;
};

/** The code of a device, and when and from where it asked. */
function Asked({ origin, userCode, readersNetwork }: AskedProps) {
  return (
    <>
      <p className="device-code">{userCode}</p>
      <p className="asks">
        It shows this code. It asked at <Clock atMs={origin.requestedAtMs} shows="time" />, from{" "}
        {nameNetwork(origin.network, readersNetwork)}.
      </p>
    </>
  );
}

/** Where the answer goes, if the title does not say it. */
function Whither({ origin }: Pick<RequestingClient, "origin">) {
  if (origin.is === "program")
    return (
      <p className="quiet">
        Your answer goes to <strong>{origin.host}</strong>, on this computer.
      </p>
    );
  if (origin.is === "app")
    return (
      <p className="quiet">
        Your answer goes to the app that opens <strong>{origin.scheme}</strong> links.
      </p>
    );
}

function nameNetwork(network: string | undefined, readersNetwork: string | undefined): ReactNode {
  if (!network) return "an unknown network";
  if (network === readersNetwork) return "the same network as you";
  return (
    <>
      a network that you are not on now (<strong className="unbroken">{network}</strong>): it can be anywhere
    </>
  );
}

/** The two buttons, of which neither is proposed, or why there are none. */
function Answer({ reader, requestId }: Pick<ApprovalProps, "reader" | "requestId">) {
  if (reader instanceof ApiError) {
    if (reader.reason === "barred") return <p className="problem">{reader.message}</p>;
    if (reader.status !== 401) {
      return (
        <p className="problem">
          We cannot check your account at the moment. Reload this page in a moment.{" "}
          <Reference id={requestId} />
        </p>
      );
    }
    return (
      <>
        <p>Sign in first. You then come back to this request.</p>
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
      <p className="quiet">
        It is free. Signed in as <strong>{reader.account.email}</strong>.{" "}
        {settings().signIn.kind === "local" && (
          <button type="submit" name="answer" value="leave" className="linklike">
            Not you?
          </button>
        )}
      </p>
      <div className="pair">
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
