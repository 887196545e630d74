import { Problem } from "./problem";

type EmailFormProps = {
  action: string;
  button: string;
  problem: string | null;
  problems: Record<string, string>;
  /** Fields that go along unseen. */
  hidden?: Record<string, string>;
};

/** A form that asks for an email and works without JavaScript. */
export function EmailForm({ action, button, problem, problems, hidden = {} }: EmailFormProps) {
  const hasProblem = problem !== null && Object.hasOwn(problems, problem);
  return (
    <form method="post" action={action} className="stack">
      <Problem of={problem} words={problems} />
      {Object.entries(hidden).map(([name, value]) => (
        <input key={name} type="hidden" name={name} value={value} />
      ))}
      <label htmlFor="email">Email</label>
      <input
        id="email"
        name="email"
        type="email"
        autoComplete="email"
        inputMode="email"
        maxLength={254}
        required
        aria-invalid={hasProblem || undefined}
        aria-describedby={hasProblem ? "problem" : undefined}
      />
      <button type="submit">{button}</button>
    </form>
  );
}
