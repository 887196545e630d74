/** A link to the next step, which looks like a button. */
export function ButtonLink({ to, isPlain, children }: { to: string; isPlain?: true; children: string }) {
  return (
    <p className="actions">
      <a className={isPlain ? "button plain" : "button"} href={to}>
        {children}
      </a>
    </p>
  );
}
