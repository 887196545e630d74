import type { ReactNode } from "react";

type SystemCardProps = {
  name: ReactNode;
  /** How it is, if that is known. */
  light?: ReactNode;
  facts: Readonly<Record<string, ReactNode>>;
  /** What can be done about it. */
  children: ReactNode;
};

/** One of the operator's own systems. */
export function SystemCard({ name, light, facts, children }: SystemCardProps) {
  return (
    <section className="card system">
      <h2>{name}</h2>
      {light}
      <dl className="facts">
        {Object.entries(facts).map(([fact, value]) => (
          <div key={fact}>
            <dt>{fact}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <div className="actions">{children}</div>
    </section>
  );
}
