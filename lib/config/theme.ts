/* The design tokens of pages and mails. `npm run bundle` writes them as custom properties for the style sheets. */

/** A colour in the light and in the dark theme. */
export type Colour = readonly [light: string, dark: string];

export const colours = {
  ink: ["#1b1e1a", "#ecebe5"],
  quiet: ["#5a6058", "#a8ada4"],
  paper: ["#fbfaf6", "#131512"],
  /** Surfaces above the page: cards, fields. */
  raised: ["#ffffff", "#1b1e1a"],
  /** Surfaces below the page: code, the footer. */
  sunken: ["#f4f2ea", "#0e100d"],
  /** Separators. */
  line: ["#e2dfd4", "#2f342d"],
  /** Borders of fields and buttons: contrast 3:1 with their surroundings. */
  edge: ["#85887c", "#7d8479"],
  accent: ["#10694d", "#7ed3b0"],
  "on-accent": ["#ffffff", "#0c1f17"],
  link: ["#0e6147", "#7ed3b0"],
  /** Status colours, each with a tint for its background. */
  good: ["#10694d", "#7ed3b0"],
  "good-tint": ["#e3f1ea", "#17352a"],
  soon: ["#7a5300", "#f0c75e"],
  "soon-tint": ["#fdf0cd", "#40330a"],
  stopped: ["#97271a", "#ffb4a6"],
  "stopped-tint": ["#fbe7e3", "#4b1f17"],
  /** Syntax highlighting. */
  "code-word": ["#8c3a0f", "#f2a97e"],
  "code-text": ["#0e6147", "#8fd9b6"],
  "code-number": ["#5b3fa0", "#c4aef5"],
  "code-name": ["#1a4f7d", "#92c3ee"],
} as const satisfies Record<string, Colour>;

/** The three colours of a status, and `unknown`. */
export type LightColour = "good" | "soon" | "stopped" | "unknown";

/** The fonts: our serif for headings, our sans for everything else, and the reader's own for code. */
export const type = {
  /** Until ours have loaded, Georgia and Arial with adjusted metrics replace them. */
  serif: '"Newsreader", "Newsreader stand-in", "Newsreader wide stand-in", ui-serif, Georgia, serif',
  sans: '"Instrument Sans", "Instrument Sans stand-in", system-ui, sans-serif',
  mono: 'ui-monospace, "SF Mono", Menlo, Consolas, monospace',
  /** For mails: mail programs load no fonts. */
  mailSerif: "Georgia, 'Times New Roman', serif",
  mailSans: "-apple-system, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif",
} as const;

const sizes = {
  "size-small": "0.8125rem",
  "size-less": "0.9rem",
  "size-more": "1.125rem",
  "size-3": "1.3125rem",
  "size-2": "1.625rem",
  "size-1": "clamp(2rem, 1.6rem + 1.6vw, 2.75rem)",
  "size-front": "clamp(2.5rem, 1.6rem + 4vw, 4.5rem)",
};

const spaces = {
  "space-1": "0.25rem",
  "space-2": "0.5rem",
  "space-3": "0.75rem",
  "space-4": "1rem",
  "space-5": "1.5rem",
  "space-6": "2rem",
  "space-7": "3rem",
  "space-8": "4.5rem",
};

const radii = { "radius-1": "0.375rem", "radius-2": "0.625rem", "radius-3": "1rem" };

/** Under what lies above the page, or close to it. */
const shadows = {
  shadow: "0 1px 2px rgb(0 0 0 / 6%), 0 12px 32px rgb(0 0 0 / 10%)",
  "shadow-less": "0 1px 2px rgb(0 0 0 / 4%), 0 4px 16px rgb(0 0 0 / 4%)",
};

/** All design tokens as CSS custom properties. */
export function themeAsCss(): string {
  const properties = [
    ...Object.entries<Colour>(colours).map(([name, [light, dark]]) => [
      name,
      `light-dark(${light}, ${dark})`,
    ]),
    ...["serif", "sans", "mono"].map((name) => [name, type[name as keyof typeof type]]),
    ...[sizes, spaces, radii, shadows].flatMap((group) => Object.entries(group)),
  ];
  const lines = properties.map(([name, value]) => `  --${name}: ${value};`);
  const chosen = ["light", "dark"].map(
    (look) => `  [data-look="${look}"] {\n    color-scheme: ${look};\n  }\n`,
  );
  return `:root {\n  color-scheme: light dark;\n${lines.join("\n")}\n}\n\n@media screen {\n${chosen.join("\n")}}\n`;
}
