import { namedBySystem } from "@/lib/auth/sessions/session-name";

/** Our own drawings, in lines on a 24 × 24 grid. */
const drawings = {
  app: "M5 4h5v6H4V5a1 1 0 0 1 1-1zm9 0h5a1 1 0 0 1 1 1v5h-6zM4 14h6v6H5a1 1 0 0 1-1-1zm13 0v6m-3-3h6",
  arrow: "M5 12h14m-6-6 6 6-6 6",
  browser: "M3 5.5h18v13H3zm0 4h18M6 7.5h.01M8.5 7.5h.01",
  card: "M3 5.5h18v13H3zm0 4.5h18M6.5 15h4",
  check: "m5 12.5 4.5 4.5L19 7.5",
  clock: "M12 3.5a8.5 8.5 0 1 1 0 17 8.5 8.5 0 0 1 0-17zM12 8v4.5l3 2",
  cross: "m6.5 6.5 11 11m0-11-11 11",
  key: "M8 8.5a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9zm4.5 4.5H21v3.5M17 13v2.5",
  mail: "M3 5.5h18v13H3zm.5.5L12 13l8.5-7",
  menu: "M4 8h16M4 16h16",
  page: "M6 3h8l4 4v14H6zm8 0v4h4M9 12h6m-6 4h6",
  person: "M12 4a4 4 0 1 1 0 8 4 4 0 0 1 0-8zM4.5 20.5c.6-4 3.5-6 7.5-6s6.9 2 7.5 6",
  phone: "M7.5 2.5h9v19h-9zM11 18.5h2",
  program: "M3 5h18v14H3zm4 4.5 3 2.5-3 2.5m5 0h4",
  warning: "M12 4 2.5 20h19zm0 6v4.5m0 2.5v.01",
} as const;

export type IconName = keyof typeof drawings;

/** A small drawing in the colour of the text around it. It says nothing that the text does not. */
export function Icon({ name, outcome }: { name: IconName; outcome?: string }) {
  return (
    <svg className="icon" viewBox="0 0 24 24" aria-hidden="true" data-outcome={outcome}>
      <path d={drawings[name]} />
    </svg>
  );
}

/** The drawing of what does not name itself, by how the name begins that we give it. */
const unnamed: Record<string, IconName> = {
  "A device": "phone",
  [namedBySystem]: "program",
  "An app that opens ": "app",
};

export const drawingOf = (name: string) =>
  Object.entries(unnamed).find(([start]) => name.startsWith(start))?.[1];

const hues = 4;

/** An app by two letters of its name in a circle, in a colour that is always the same; without a name by a drawing. */
export function Monogram({ name }: { name: string }) {
  const drawing = drawingOf(name);
  if (drawing) return <Icon name={drawing} />;
  const [first = "", second] = name.match(/[\p{L}\p{N}]+/gu) ?? [];
  const letters = second ? first.slice(0, 1) + second.slice(0, 1) : first.slice(0, 2);
  const hue = [...name].reduce((sum, letter) => sum + letter.charCodeAt(0), 0) % hues;
  return <span className="monogram" data-hue={hue} data-letters={letters} aria-hidden="true" />;
}
