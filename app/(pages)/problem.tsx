/** What went wrong with a form, in words. */
export type Problem = {
  words: string;
  /** What was typed has to change. Otherwise it was not the person's doing, and does not look like it. */
  isTyped?: true;
};

type Query = Record<string, string | string[] | undefined>;

/** The problem that a page's address names, if it is one of the page's own or of those that every form can have. */
export function findProblem(
  { problem, wait }: Query,
  own: Record<string, Problem> = {},
): Problem | undefined {
  const problems: Record<string, Problem> = {
    email: { words: "That is not an email address. Check it for a slip.", isTyped: true },
    "too-many": { words: `There were many forms from here just now. ${waitInWords(Number(wait))}` },
    account: {
      words:
        "Another account is signed in here than this page showed, so nothing was done. Look who is signed in, then do it once more.",
    },
    unavailable: {
      words: "Something went wrong on our side, and nothing was done. Try again in a moment.",
    },
    ...own,
  };
  return typeof problem === "string" && Object.hasOwn(problems, problem) ? problems[problem] : undefined;
}

function waitInWords(seconds: number): string {
  if (!Number.isInteger(seconds) || seconds < 1 || seconds > 600) return "Try again in a few minutes.";
  const minutes = Math.ceil(seconds / 60);
  return `Wait ${seconds < 90 ? `${seconds} seconds` : `${minutes} minutes`}, then try again.`;
}

/** The title of a page with a form: whoever hears it first hears what went wrong. */
export function titleOf(title: string, problem: Problem | undefined): string {
  return problem ? `${problem.words} · ${title}` : title;
}

/** Says what went wrong with the form above which it stands, and what to do; nothing when nothing did. */
export function ProblemNote({ problem }: { problem: Problem | undefined }) {
  if (!problem) return null;
  return (
    <p className={problem.isTyped ? "problem" : "problem ours"} role="alert" id="problem">
      {problem.words}
    </p>
  );
}

/** What a field of a form says of its problem, and whether it takes the focus. */
export function problemOfField(problem: Problem | undefined) {
  return {
    "aria-invalid": problem?.isTyped,
    "aria-describedby": problem && "problem",
    autoFocus: problem !== undefined,
  };
}
