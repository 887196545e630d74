import type { ApiError } from "@/lib/http/errors";
import { addressOf, type OfficeAct, type OfficePage, type OfficeView } from "@/lib/office/page";
import { UntrustedText } from "@/lib/office/parts";
import { ceremonyAt, signInPaths } from "@/lib/office/sign-in-paths";

/** Sign-in. */
export function showEnter(to: string): OfficeView {
  return {
    title: "Sign in",
    content: (
      <SignInCard heading="Sign in to the office">
        <p>The office is for operators. Owners of accounts sign in on the public site.</p>
        <Ceremony kind="get" path={signInPaths.enter} to={to}>
          Use your passkey
        </Ceremony>
        <p className="quiet">
          Lost your passkey? <code>npm run -s admin -- operator add NAME</code> prints another link.
        </p>
      </SignInCard>
    ),
  };
}

/** Where a link leads. Its token is in the fragment, which no server and no log ever sees. */
export function showEnrol(): OfficeView {
  return {
    title: "Add a passkey",
    content: (
      <SignInCard heading="Add your passkey">
        <p>
          This link works once. The passkey that you add now opens the office, with your name on everything
          that you do there.
        </p>
        <Ceremony kind="create" path={signInPaths.enrol} to="/">
          Add a passkey
        </Ceremony>
      </SignInCard>
    ),
  };
}

/** Asks for the passkey before an act, and keeps what was typed. */
export function askAgain(
  why: "signed out" | "to prove",
  page: OfficePage,
  act: OfficeAct,
  fields: URLSearchParams,
): OfficeView {
  const isOut = why === "signed out";
  const form = "again";
  const email = fields.get("email");
  return {
    title: isOut ? "Sign in to go on" : "Confirm that it is you",
    status: isOut ? 401 : 403,
    content: (
      <SignInCard heading={isOut ? "Your session has ended" : "Confirm that it is you"}>
        <p>
          You asked to <strong>{act.name}</strong>
          {email && (
            <>
              {" "}
              of <UntrustedText>{email}</UntrustedText>
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
        <Ceremony kind="get" path={isOut ? signInPaths.enter : signInPaths.proof} form={form}>
          Use passkey and go on
        </Ceremony>
        <p>
          <a href={addressOf(page.path, { email: email ?? undefined })}>Go back without it</a>
        </p>
      </SignInCard>
    ),
  };
}

export function describeProblem({ status, message, hint }: ApiError, requestId: string): OfficeView {
  return {
    title: "That did not work",
    status,
    content: (
      <SignInCard heading="That did not work">
        <p>{message}</p>
        <p>{hint}</p>
        {status >= 500 && (
          <p className="quiet">
            The log has more under <code>{requestId}</code>.
          </p>
        )}
      </SignInCard>
    ),
  };
}

function SignInCard({ heading, children }: { heading: string; children: React.ReactNode }) {
  return (
    <div className="narrow">
      <h1>{heading}</h1>
      {children}
    </div>
  );
}

type CeremonyProps = {
  kind: "get" | "create";
  path: `/${string}`;
  /** The address to open afterwards, or the form to send. */
  to?: string;
  form?: string;
  children: string;
};

/** A button that uses a passkey or creates one. The script shows it, and empties the status. */
function Ceremony({ kind, path, to, form, children }: CeremonyProps) {
  const { options, done } = ceremonyAt(path);
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
