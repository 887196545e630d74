import type { Metadata } from "next";
import { headers } from "next/headers";
import { notFound, redirect } from "next/navigation";
import { readCookie } from "@/lib/api/cookies";
import { log } from "@/lib/process/log";
import { settings } from "@/lib/settings/settings";
import { type AskedCode, codeMinutes, findAskedCode, longCodeHours, mostTries } from "@/lib/sign-in/code";
import { store } from "@/lib/store/store";
import { findProblem, type Problem, ProblemNote, problemOfField } from "../../problem";
import { SiteBanner } from "../../site-banner";
import { TryAgain } from "../../try-again";

export const metadata: Metadata = { title: "Type the code", robots: { index: false } };

export default async function CodePage({ searchParams }: PageProps<"/sign-in/code">) {
  const browser = readCookie(await headers(), "office-code");
  if (settings().signIn.kind !== "local") notFound();
  const asked = browser && (await findCode(browser));
  if (!asked) redirect("/sign-in?problem=over");
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
      <TryAgain at="/sign-in/code" />
    </>
  );
}

type TypeCodeProps = { asked: AskedCode; query: Parameters<typeof findProblem>[0] };

function TypeCode({ asked, query }: TypeCodeProps) {
  const problem = findProblem(query, asked.isLong ? ofLongCode(query) : ofShortCode(query));
  return (
    <>
      <h1>Type the {asked.isLong && "long "}code</h1>
      {asked.isLong ? <AboutLongCode {...asked} /> : <AboutShortCode {...asked} />}
      <form method="post" action="/sign-in/redeem" className="stack">
        <ProblemNote problem={problem} />
        <label htmlFor="code">Code</label>
        <input
          id="code"
          name="code"
          className="code"
          autoComplete="one-time-code"
          required
          {...(asked.isLong ? longCodeField : shortCodeField)}
          {...problemOfField(problem)}
        />
        <button type="submit">Sign in</button>
      </form>
      <p className="quiet">
        {asked.isLong ? (
          <>
            Nothing there? Look in the spam folder and among what you deleted. The next one can be sent at{" "}
            <Clock atMs={asked.untilMs} />.
          </>
        ) : (
          <>
            Nothing came? Look in the spam folder, or <a href="/sign-in">ask for another code</a>.
          </>
        )}
      </p>
    </>
  );
}

const shortCodeField = {
  inputMode: "numeric",
  pattern: "\\s*(\\d[\\s\\-]*){6}",
  title: "Six figures",
  maxLength: 12,
} as const;

const longCodeField = { autoCapitalize: "characters", spellCheck: false, maxLength: 20 } as const;

function AboutShortCode({ email }: AskedCode) {
  return (
    <p>
      If <strong>{email}</strong> has an account, a six-digit code is on its way to it. It works once, in this
      browser, for {codeMinutes} minutes.
    </p>
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
        If the email has an account, the mail was sent at <Clock atMs={postedAtMs} />: look for “long sign-in
        code”. It works once, in any browser, for {longCodeHours} hours: until <Clock atMs={untilMs} />.
      </p>
    </>
  );
}

function Clock({ atMs }: { atMs: number }) {
  const iso = new Date(atMs).toISOString();
  return <time dateTime={iso}>{iso.slice(11, 16)} UTC</time>;
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
