import { findRequestedCode, type RequestedCode } from "@/lib/auth/codes/sign-in-code";
import { sendAgainAfterSeconds } from "@/lib/auth/codes/sign-in-code-limits";
import { requestedCodes } from "@/lib/auth/local-sign-in";
import { codeMinutes, longCodeHours } from "@/lib/config/lifetimes";
import { redirectTo, withProblem } from "@/lib/http/form";
import { handlePage } from "@/lib/http/page";
import { forms } from "@/lib/http/register/forms";
import { pages } from "@/lib/http/register/pages";
import { Clock } from "../../clock";
import { narrow } from "../../html-page";
import { PostForm } from "../../post-form";
import { findProblem, type Problem, ProblemNote, problemOfField } from "../../problem";
import { readPart } from "../../read-part";
import { TryAgain } from "../../try-again";
import { problemsOf } from "../problems";

export const { GET } = handlePage(pages.code, narrow, async ({ url, headers, nowMs, requestId }) => {
  const [browser] = requestedCodes(headers);
  const requested = browser
    ? await readPart(
        "a sign-in code could not be read",
        (db) => findRequestedCode(db, browser, nowMs),
        requestId,
      )
    : ({ ended: "unasked" } as const);
  if (!requested) return { title: "We cannot check codes at the moment", content: unavailable(requestId) };
  if ("ended" in requested) return redirectTo({ to: withProblem(pages.signIn.path, requested.ended) });
  const { searchParams } = url;
  const problem = findProblem(url, problemsOf(requested, Number(searchParams.get("left"))));
  return {
    title: `Enter the ${requested.isLong ? "long " : ""}code`,
    problem,
    content: <TypeCode requested={requested} problem={problem} hasOpened={searchParams.has("opened")} />,
  };
});

const unavailable = (requestId: string) => (
  <>
    <p role="status">This is on our side, and your code stays valid. This page tries again automatically.</p>
    <TryAgain at={pages.code.path} failed={requestId} />
  </>
);

type TypeCodeProps = { requested: RequestedCode; problem: Problem | undefined; hasOpened: boolean };

function TypeCode({ requested, problem, hasOpened }: TypeCodeProps) {
  const { email, isLong, characters, untilMs } = requested;
  return (
    <>
      {isLong ? <AboutLongCode {...requested} /> : <AboutShortCode {...requested} hasOpened={hasOpened} />}
      <form method="post" action={forms.redeemCode.path} className="stack">
        <ProblemNote problem={problem} />
        <label htmlFor="code">Code</label>
        <div className={characters === 6 ? "figures-of-code" : undefined}>
          <input
            id="code"
            name="code"
            className="code"
            autoComplete="one-time-code"
            required
            {...problemOfField(problem)}
            {...(characters === 6 ? shortCodeField : longCodeField)}
          />
          {characters === 6 && boxes}
        </div>
        <button type="submit">Sign in</button>
      </form>
      {isLong ? (
        <p className="quiet">
          No email? Check your spam and deleted folders. You can request the next code at{" "}
          <Clock atMs={untilMs} shows="time" />.
        </p>
      ) : (
        <>
          <PostForm action={forms.sendCode.path} hidden={{ email }}>
            <button type="submit" className="plain" data-wait-seconds={sendAgainAfterSeconds}>
              Send again
            </button>
          </PostForm>
          <p className="quiet">
            No email? Check your spam folder, or <a href={pages.signIn.path}>use another email</a>. No account
            yet? <a href={pages.waitlist.path}>Join the waitlist</a>.
          </p>
        </>
      )}
    </>
  );
}

/** The lines that are drawn below the figures of the field, one each. */
const boxes = Array.from({ length: 6 }, (_, at) => <i key={String(at)} aria-hidden="true" />);

/** As long as a whole mail that is pasted: a browser would cut off what is behind the limit, code or not. */
const shortCodeField = {
  inputMode: "numeric",
  pattern: ".*(\\p{Nd}[^\\p{L}\\p{N}]*){6}.*",
  title: "Six digits",
  maxLength: 2000,
  autoFocus: true,
} as const;

const longCodeField = {
  autoCapitalize: "characters",
  spellCheck: false,
  maxLength: 40,
  autoFocus: true,
} as const;

/** A person who has just accepted an invitation already knows that the account exists, so the page may say so. */
function AboutShortCode({ email, characters, hasOpened }: RequestedCode & { hasOpened: boolean }) {
  const isKnown = <strong>{email}</strong>;
  const length = characters === 6 ? "six-digit" : "eight-character";
  return (
    <p>
      {hasOpened ? "Your account is ready. A" : <>If {isKnown} has an account, a</>} {length} code is on its
      way to {hasOpened ? isKnown : "it"}. It works once, in this browser, for {codeMinutes} minutes.
    </p>
  );
}

/** Anyone can see this page, so it reveals only that codes were requested, not whether the email has an account. */
function AboutLongCode({ email, postedAtMs, untilMs }: RequestedCode) {
  return (
    <>
      <p>
        Many codes were requested for <strong>{email}</strong> today, so the next code is long.
      </p>
      <p>
        If the email has an account, the mail was sent at <Clock atMs={postedAtMs} shows="time" />: look for
        “long sign-in code”. It works once, in any browser, for {longCodeHours} hours: until{" "}
        <Clock atMs={untilMs} shows="time" />.
      </p>
    </>
  );
}
