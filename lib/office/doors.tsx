import type { ApiError } from "@/lib/http/errors";
import { ceremonyAt, doors } from "@/lib/office/door-paths";
import { addressOf, type OfficeAct, type OfficePage, type Shown } from "@/lib/office/page";
import { Their } from "@/lib/office/parts";

/** Sign-in. */
export function showEnter(to: string): Shown {
  return {
    title: "Sign in",
    content: (
      <Door heading="Sign in to the office">
        <p>The office is for operators. Owners of accounts sign in on the public site.</p>
        <Ceremony kind="get" door={doors.enter} to={to}>
          Use your passkey
        </Ceremony>
        <p className="quiet">
          Lost your passkey? <code>npm run -s admin -- operator add NAME</code> prints another link.
        </p>
      </Door>
    ),
  };
}

/** Where a link leads. Its token is in the fragment, which no server and no log ever sees. */
export function showEnrol(): Shown {
  return {
    title: "Add a passkey",
    content: (
      <Door heading="Add your passkey">
        <p>
          This link works once. The passkey that you add now opens the office, with your name on everything
          that you do there.
        </p>
        <Ceremony kind="create" door={doors.enrol} to="/">
          Add a passkey
        </Ceremony>
      </Door>
    ),
  };
}

/** Asks for the passkey before an act, and keeps what was typed. */
export function askAgain(
  why: "signed out" | "to prove",
  page: OfficePage,
  act: OfficeAct,
  fields: URLSearchParams,
): Shown {
  const isOut = why === "signed out";
  const form = "again";
  const email = fields.get("email");
  return {
    title: isOut ? "Sign in to go on" : "Confirm that it is you",
    status: isOut ? 401 : 403,
    content: (
      <Door heading={isOut ? "Your session has ended" : "Confirm that it is you"}>
        <p>
          You asked to <strong>{act.name}</strong>
          {email && (
            <>
              {" "}
              of <Their>{email}</Their>
            </>
          )}
          .{" "}
          {isOut
            ? "Nothing was changed, and what you typed is kept. It is carried out after you sign in."
            : "You last used your passkey more than five minutes ago. It is carried out after you use it again."}
        </p>
        <form id={form} method="post" action={act.path}>
          {[...new Set(fields.keys())].map((name) => (
            <input key={name} type="hidden" name={name} value={fields.get(name) ?? ""} />
          ))}
        </form>
        <Ceremony kind="get" door={isOut ? doors.enter : doors.proof} form={form}>
          Use passkey and go on
        </Ceremony>
        <p>
          <a href={addressOf(page.path, { email: email ?? undefined })}>Go back without it</a>
        </p>
      </Door>
    ),
  };
}

export function describeProblem({ status, message, hint }: ApiError, requestId: string): Shown {
  return {
    title: "That did not work",
    status,
    content: (
      <Door heading="That did not work">
        <p>{message}</p>
        <p>{hint}</p>
        {status >= 500 && (
          <p className="quiet">
            The log has more under <code>{requestId}</code>.
          </p>
        )}
      </Door>
    ),
  };
}

function Door({ heading, children }: { heading: string; children: React.ReactNode }) {
  return (
    <div className="narrow">
      <h1>{heading}</h1>
      {children}
    </div>
  );
}

type CeremonyProps = {
  kind: "get" | "create";
  door: `/${string}`;
  /** The address to open afterwards, or the form to send. */
  to?: string;
  form?: string;
  children: string;
};

/** A button that uses a passkey or creates one. The script shows it, and empties the status. */
function Ceremony({ kind, door, to, form, children }: CeremonyProps) {
  const { options, done } = ceremonyAt(door);
  return (
    <div
      className="stack"
      data-passkey={kind}
      data-options={options}
      data-done={done}
      data-to={to}
      data-form={form}
    >
      <button type="button" hidden>
        {children}
      </button>
      <p role="status" className="status">
        Passkeys need JavaScript. Everything else in the office works without it.
      </p>
    </div>
  );
}
