import type { ReactNode } from "react";

type SystemCardProps = {
  name: ReactNode;
  light?: ReactNode;
  facts: Readonly<Record<string, ReactNode>>;
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
