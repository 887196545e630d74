import type { Metadata } from "next";
import { headers } from "next/headers";
import { notFound, redirect } from "next/navigation";
import { readCookie } from "@/lib/api/cookies";
import { actions, pages } from "@/lib/api/pages";
import { log } from "@/lib/process/log";
import { settings } from "@/lib/settings/settings";
import { type AskedCode, codeMinutes, findAskedCode, longCodeHours, mostTries } from "@/lib/sign-in/code";
import { store } from "@/lib/store/store";
import { Clock } from "../../clock";
import { findProblem, type Problem, ProblemNote, problemOfField, titleOf } from "../../problem";
import { SiteBanner } from "../../site-banner";
import { TryAgain } from "../../try-again";
import { CodeField } from "./code-field";
import { SendAgain } from "./send-again";

export async function generateMetadata({ searchParams }: PageProps<"/sign-in/code">): Promise<Metadata> {
  const query = await searchParams;
  // Which kind of code it is, nobody reads from a title: both have the same problems.
  return {
    title: titleOf("Type the code", findProblem(query, ofShortCode(query))),
    robots: { index: false },
  };
}

export default async function CodePage({ searchParams }: PageProps<"/sign-in/code">) {
  const browser = readCookie(await headers(), "office-code");
  if (settings().signIn.kind !== "local") notFound();
  const asked = browser && (await findCode(browser));
  if (!asked) redirect(`${pages.signIn.path}?problem=over`);
  const query = await searchParams;
  return (
    <div className="narrow">
      <SiteBanner isPublic />
      {asked === "unavailable" ? <Unavailable /> : <TypeCode asked={asked} query={query} />}
    </div>
  );
}

async function findCode(browser: string): Promise<AskedCode | "unavailable" | undefined> {
  try {
    return await findAskedCode(await store(), browser, Date.now());
  } catch (failure) {
    log().error({ err: failure }, "a sign-in code could not be read");
    return "unavailable";
  }
}

function Unavailable() {
  return (
    <>
      <h1>We cannot take a code at the moment</h1>
      <p role="status">
        This is on our side, and nothing is lost: your code works as long as it would have. This page tries
        again by itself.
      </p>
      <TryAgain at={pages.code.path} />
    </>
  );
}

type TypeCodeProps = { asked: AskedCode; query: Parameters<typeof findProblem>[0] };

function TypeCode({ asked, query }: TypeCodeProps) {
  const problem = findProblem(query, asked.isLong ? ofLongCode(query) : ofShortCode(query));
  return (
    <>
      <h1>Type the {asked.isLong && "long "}code</h1>
      {asked.isLong ? (
        <AboutLongCode {...asked} />
      ) : (
        <AboutShortCode email={asked.email} hasOpened={query.opened !== undefined} />
      )}
      <form method="post" action={actions.redeemCode.path} className="stack">
        <ProblemNote problem={problem} />
        <label htmlFor="code">Code</label>
        <CodeField
          {...(asked.isLong ? longCodeField : shortCodeField)}
          {...problemOfField(problem)}
          autoFocus
        />
        <button type="submit">Sign in</button>
      </form>
      {asked.isLong ? (
        <p className="quiet">
          Nothing there? Look in the spam folder and among what you deleted. The next one can be sent at{" "}
          <Clock atMs={asked.untilMs} shows="time" />.
        </p>
      ) : (
        <Again email={asked.email} />
      )}
    </>
  );
}

const shortCodeField = {
  figures: 6,
  inputMode: "numeric",
  pattern: "\\s*(\\d[\\s\\-]*){6}",
  title: "Six figures",
  maxLength: 12,
} as const;

const longCodeField = { autoCapitalize: "characters", spellCheck: false, maxLength: 20 } as const;

type AboutShortCodeProps = { email: string; hasOpened: boolean };

/** Whoever has just accepted an invitation knows that there is an account. */
function AboutShortCode({ email, hasOpened }: AboutShortCodeProps) {
  const how = `It works once, in this browser, for ${codeMinutes} minutes.`;
  if (hasOpened) {
    return (
      <p>
        Your account is open. A six-digit code is on its way to <strong>{email}</strong>. {how}
      </p>
    );
  }
  return (
    <p>
      If <strong>{email}</strong> has an account, a six-digit code is on its way to it. {how}
    </p>
  );
}

/** Another code for the same email, and the way back for who mistyped it. */
function Again({ email }: { email: string }) {
  return (
    <>
      <form method="post" action={actions.sendCode.path}>
        <input type="hidden" name="email" value={email} />
        <SendAgain />
      </form>
      <p className="quiet">
        Nothing came? Look in the spam folder, or <a href={pages.signIn.path}>use another email</a>.
      </p>
    </>
  );
}

/** Shown to anybody who asks, so it says no more than that somebody asked. */
function AboutLongCode({ email, postedAtMs, untilMs }: AskedCode) {
  return (
    <>
      <p>
        Many codes were asked for <strong>{email}</strong> today. So there is a long one now, which nobody can
        guess and asking does not use up.
      </p>
      <p>
        If the email has an account, the mail was sent at <Clock atMs={postedAtMs} shows="time" />: look for
        “long sign-in code”. It works once, in any browser, for {longCodeHours} hours: until{" "}
        <Clock atMs={untilMs} shows="time" />.
      </p>
    </>
  );
}

function ofShortCode({ left }: TypeCodeProps["query"]): Record<string, Problem> {
  return {
    form: { words: "A code has six figures. Look at it again: this did not count as a try.", isTyped: true },
    wrong: wrongCode(Number(left)),
  };
}

function ofLongCode({ left }: TypeCodeProps["query"]): Record<string, Problem> {
  return {
    form: {
      words: "The long code has twelve letters and figures. Look at it again: this did not count as a try.",
      isTyped: true,
    },
    wrong: wrongCode(Number(left)),
  };
}

function wrongCode(left: number): Problem {
  const tries = left === 1 ? "one more try" : `${left} more tries`;
  const isSound = Number.isInteger(left) && left >= 1 && left <= mostTries;
  return { words: `That is not the code. You have ${isSound ? tries : "a few more tries"}.`, isTyped: true };
}
