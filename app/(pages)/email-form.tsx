import { type Problem, ProblemNote, problemOfField } from "./problem";

type EmailFormProps = {
  action: string;
  button: string;
  problem: Problem | undefined;
  /** What was typed before, right or wrong. */
  typed: string;
  /** Fields that go along unseen. */
  hidden?: Record<string, string>;
  /** Whether the form is all that its page is for, so that one types at once. */
  takesFocus?: true;
};

/** A form that asks for an email and works without JavaScript. What was typed before is there already. */
export function EmailForm({ action, button, problem, typed, hidden = {}, takesFocus }: EmailFormProps) {
  return (
    <form method="post" action={action} className="stack">
      <ProblemNote problem={problem} />
      {Object.entries(hidden).map(([name, value]) => (
        <input key={name} type="hidden" name={name} value={value} />
      ))}
      <label htmlFor="email">Email</label>
      <EmailField typed={typed} problem={problem} {...(takesFocus && { takesFocus })} />
      <button type="submit">{button}</button>
    </form>
  );
}

type EmailFieldProps = Partial<Pick<EmailFormProps, "typed" | "problem" | "takesFocus">>;

/** The field alone, for a form of another shape. */
export function EmailField({ typed, problem, takesFocus }: EmailFieldProps) {
  return (
    <input
      id="email"
      name="email"
      type="email"
      autoComplete="email"
      inputMode="email"
      maxLength={254}
      required
      defaultValue={typed}
      {...problemOfField(problem)}
      {...(takesFocus && { autoFocus: true })}
    />
  );
}
