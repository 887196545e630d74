/** What went wrong with the form above which it stands, and what to do; nothing when nothing did. */
export function Problem({ of, words }: { of: string | null; words: Record<string, string> }) {
  const said = of !== null && Object.hasOwn(words, of) && words[of];
  if (!said) return null;
  return (
    <p className="problem" role="alert" id="problem">
      {said}
    </p>
  );
}

/** The problems that every form can have. */
export const anyFormsProblems = {
  email: "That is not an email address. Check it for a slip.",
  "too-many": "That was a lot of tries. Wait ten minutes, then try again.",
  unavailable: "Something went wrong on our side, and nothing was done. Try again in a moment.",
};
