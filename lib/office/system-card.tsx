import type { ReactNode } from "react";
import { Facts } from "@/lib/office/facts";

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
      <Facts facts={facts} />
      <div className="actions">{children}</div>
    </section>
  );
}
