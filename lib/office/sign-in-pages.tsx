import { Fragment } from "react";
import type { Change, Effect, Preview } from "@/lib/admin/act";
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

type Asked = {
  why: "signed out" | "to prove";
  page: OfficePage;
  act: OfficeAct;
  /** What was typed. */
  fields: URLSearchParams;
  preview?: Preview | undefined;
};

/** Asks for the passkey before an act, says what that will change, and keeps what was typed. */
export function askAgain({ why, page, act, fields, preview }: Asked): OfficeView {
  const isOut = why === "signed out";
  const form = "again";
  const email = fields.get("email") ?? undefined;
  const name = act.name.charAt(0).toUpperCase() + act.name.slice(1);
  return {
    title: isOut ? "Your session has ended" : `${name}?`,
    status: isOut ? 401 : 403,
    isNarrow: true,
    content: (
      <>
        {isOut && (
          <p>
            You asked to <strong>{act.name}</strong>. Nothing was changed, and what you typed is kept: it is
            carried out after you sign in.
          </p>
        )}
        <Prospect
          whom={preview?.whom ?? email}
          changes={preview?.changes ?? []}
          effect={preview?.effect ?? act.effect}
        />
        <form id={form} method="post" action={act.path}>
          {[...fields].map(([name, value]) => (
            <input key={`${name}=${value}`} type="hidden" name={name} value={value} />
          ))}
        </form>
        <Ceremony kind="get" path={isOut ? signInPaths.enter : signInPaths.proof} form={form}>
          Confirm with passkey
        </Ceremony>
        <p>
          <a href={addressOf(page.path, { email })}>Cancel</a>
        </p>
        {!isOut && (
          <p className="quiet">
            Nothing was changed yet. You are asked because you last used your passkey more than five minutes
            ago.
          </p>
        )}
      </>
    ),
  };
}

type ProspectProps = { whom: string | undefined; changes: readonly Change[]; effect: Effect | undefined };

/** What an act will do: to whom, what is there now and will be then, and whether that can be undone. */
function Prospect({ whom, changes, effect }: ProspectProps) {
  return (
    <dl className="prospect">
      {whom && (
        <>
          <dt>For</dt>
          <dd>
            <b>
              <UntrustedText>{whom}</UntrustedText>
            </b>
          </dd>
        </>
      )}
      {changes.map(({ what, before, after }) => (
        <Fragment key={what}>
          <dt>{what}</dt>
          <dd>
            {before !== undefined && (
              <>
                <del>
                  <UntrustedText>{before}</UntrustedText>
                </del>{" "}
                →{" "}
              </>
            )}
            <ins>
              <UntrustedText>{after}</UntrustedText>
            </ins>
          </dd>
        </Fragment>
      ))}
      {effect && (
        <>
          <dt>What happens</dt>
          <dd>{effect.does}</dd>
          <dt>To undo it</dt>
          <dd>{effect.undo ?? <strong>It cannot be undone.</strong>}</dd>
        </>
      )}
    </dl>
  );
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
