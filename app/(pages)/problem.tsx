import { inSeconds } from "@/lib/config/durations";
import { notAnEmail } from "@/lib/config/email-address";
import { requestIdPattern } from "@/lib/http/call";
import { tooManyOf } from "@/lib/http/errors";

/** The message about a form that failed. */
export type Problem = {
  words: string;
  /** Set if the input is wrong. Otherwise the failure is ours, and is not styled as the reader's mistake. */
  isTyped?: true;
  /** The id of the request that failed, as the log has it. */
  reference?: string;
};

/** What is said where a commit was sent to the store and not answered. */
export const unknownOutcome =
  "Something went wrong on our side, and we cannot tell whether it was done. Look whether it was before you do it again.";

/** Finds the problem that the address names, among the page's own and those common to all forms. */
export function findProblem({ searchParams }: URL, own: Record<string, Problem> = {}): Problem | undefined {
  const of = searchParams.get("of");
  const whose = of === "client" || of === "all" ? of : "network";
  const problems: Record<string, Problem> = {
    email: { words: notAnEmail.email, isTyped: true },
    letters: { words: notAnEmail.letters, isTyped: true },
    "too-many": {
      words: `${tooManyOf[whose]}. ${waitInWords(Number(searchParams.get("wait")))}`,
    },
    account: {
      words:
        "You are now signed in to a different account, so nothing was changed. Check the account, then try again.",
    },
    cookies: {
      words:
        "Your browser blocks our cookies, or those of another site conflict with them. Allow cookies for this site, then try again. If that does not help, delete the cookies of this site.",
    },
    unavailable: {
      words: "Something went wrong on our side, and nothing was changed. Try again in a moment.",
    },
    unknown: { words: unknownOutcome },
    ...own,
  };
  const name = searchParams.get("problem") ?? "";
  const problem = Object.hasOwn(problems, name) ? problems[name] : undefined;
  const reference = searchParams.get("reference") ?? "";
  return problem && requestIdPattern.test(reference) ? { ...problem, reference } : problem;
}

function waitInWords(seconds: number): string {
  if (!Number.isInteger(seconds) || !(seconds > 0) || seconds > 600) return "Try again in a few minutes.";
  const minutes = Math.ceil(seconds / 60);
  return `Wait ${seconds < 90 ? inSeconds(seconds) : `${minutes} minutes`}, then try again.`;
}

/** Shows the problem above a form, and what to do; renders nothing if there is none. */
export function ProblemNote({ problem }: { problem: Problem | undefined }) {
  if (!problem) return null;
  return (
    <p className={problem.isTyped ? "problem" : "problem ours"} role="alert" id="problem">
      {problem.words} {problem.reference && <Reference id={problem.reference} />}
    </p>
  );
}

/** The id of the request that failed, by which the log says why. */
export function Reference({ id }: { id: string }) {
  return (
    <>
      If it happens again, quote reference <code>{id}</code>.
    </>
  );
}

/** The attributes that mark a field as invalid and give it the focus. */
export function problemOfField(problem: Problem | undefined) {
  return {
    "aria-invalid": problem?.isTyped,
    "aria-describedby": problem && "problem",
    autoFocus: problem !== undefined,
  };
}
