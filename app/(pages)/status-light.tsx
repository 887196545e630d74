import type { ReactNode } from "react";
import type { LightColour } from "@/lib/config/theme";
import type { Part } from "@/lib/status/parts";

/** A status light: a colour, a shape for readers who do not see the colour, and a label. */
export function Light({ colour, children }: { colour: LightColour; children: ReactNode }) {
  return (
    <p className="light" data-colour={colour}>
      <Shape colour={colour} />
      <span>{children}</span>
    </p>
  );
}

/** The shape of a colour, next to words that say the same. */
export function Shape({ colour }: { colour: LightColour }) {
  return (
    <svg viewBox="0 0 16 16" width="0.875rem" height="0.875rem" aria-hidden="true">
      {shapes[colour]}
    </svg>
  );
}

type PartListProps = { parts: readonly Part[]; children?: ((part: Part) => ReactNode) | undefined };

/** The parts of this service, each with its light, and what else is said of it. */
export function PartList({ parts, children }: PartListProps) {
  return (
    <ul className={children ? "rows with-days" : "rows"}>
      {parts.map((part) => (
        <li key={part.name}>
          <strong>{part.name}</strong>
          <Light colour={part.colour}>{part.says}</Light>
          {children?.(part)}
        </li>
      ))}
    </ul>
  );
}

const shapes: Record<LightColour, ReactNode> = {
  good: <circle cx="8" cy="8" r="6" fill="var(--good)" />,
  soon: <path d="M8 1.5 15 14H1z" fill="var(--soon)" />,
  stopped: <rect x="2" y="2" width="12" height="12" rx="1.5" fill="var(--stopped)" />,
  unknown: <circle cx="8" cy="8" r="5" fill="none" stroke="var(--quiet)" strokeWidth="2" />,
};
