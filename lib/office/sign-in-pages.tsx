import type { ApiError } from "@/lib/http/errors";
import { addressOf, type OfficeAct, type OfficePage, type OfficeView, signInPaths } from "@/lib/office/page";
import { UntrustedText } from "@/lib/office/values";

/** Sign-in. */
export function showEnter(to: string): OfficeView {
  return {
    title: "Sign in to the office",
    isNarrow: true,
    content: (
      <>
        <p>The office is for operators. Owners of accounts sign in on the public site.</p>
        <Ceremony kind="get" path={signInPaths.enter} to={to}>
          Use your passkey
        </Ceremony>
        <p className="quiet">
          Lost your passkey? <code>npm run -s admin -- operator add NAME</code> prints another link.
        </p>
      </>
    ),
  };
}

/** Where a link leads. Its token is in the fragment, which no server and no log ever sees. */
export const enrolView: OfficeView = {
  title: "Add your passkey",
  isNarrow: true,
  content: (
    <>
      <p>
        This link works once. The passkey that you add now opens the office, with your name on everything that
        you do there.
      </p>
      <Ceremony kind="create" path={signInPaths.enrol} to="/">
        Add a passkey
      </Ceremony>
    </>
  ),
};

/** Asks for the passkey before an act, and keeps what was typed. */
export function askAgain(
  why: "signed out" | "to prove",
  page: OfficePage,
  act: OfficeAct,
  fields: URLSearchParams,
): OfficeView {
  const isOut = why === "signed out";
  const form = "again";
  const email = fields.get("email") ?? undefined;
  return {
    title: isOut ? "Your session has ended" : "Confirm that it is you",
    status: isOut ? 401 : 403,
    isNarrow: true,
    content: (
      <>
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
            : "Nothing was changed yet. You last used your passkey more than five minutes ago: it is carried out as soon as you use it again."}
        </p>
        {act.effect && <p className="effect">{act.effect}</p>}
        <form id={form} method="post" action={act.path}>
          {[...fields].map(([name, value]) => (
            <input key={`${name}=${value}`} type="hidden" name={name} value={value} />
          ))}
        </form>
        <Ceremony kind="get" path={isOut ? signInPaths.enter : signInPaths.proof} form={form}>
          Confirm with passkey
        </Ceremony>
        <p>
          <a href={addressOf(page.path, { email })}>Go back without it</a>
        </p>
      </>
    ),
  };
}

/** A refusal. What failed because of us may have failed after the work was done. */
export function describeProblem({ status, message, hint }: ApiError, requestId: string): OfficeView {
  const isOurs = status >= 500;
  return {
    title: "That did not work",
    status,
    isNarrow: true,
    content: (
      <>
        <p>{message}</p>
        <p>
          {isOurs
            ? "Try again in a moment. If you have sent a form, look first whether it was carried out."
            : hint}
        </p>
        {isOurs && (
          <p className="quiet">
            The log has more under <code>{requestId}</code>.
          </p>
        )}
      </>
    ),
  };
}

type CeremonyProps = {
  kind: "get" | "create";
  path: `/${string}`;
  /** The address to open afterwards, or the form to send. */
  to?: string;
  form?: string;
  children: string;
};

/** A button that uses a passkey or creates one, by the script. */
function Ceremony({ kind, path, to, form, children }: CeremonyProps) {
  return (
    <div className="stack">
      <button
        type="button"
        className="with-script"
        data-passkey={kind}
        data-path={path}
        data-to={to}
        data-form={form}
      >
        {children}
      </button>
      <p role="status" className="status" />
      <noscript>Passkeys need JavaScript. Everything else in the office works without it.</noscript>
    </div>
  );
}
