import { describe, expect, it } from "vitest";
import { colours, themeAsCss } from "@/lib/config/theme";

/** The contrast ratio of two colours (WCAG 2.2, 1.4.3). */
function contrast(one: string, other: string): number {
  const [light = 0, dark = 0] = [one, other].map(luminance).sort((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

function luminance(hex: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5]
    .map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

type Name = keyof typeof colours;

const grounds: Name[] = ["paper", "raised", "sunken"];
const written: Name[] = ["ink", "quiet", "link", "good", "soon", "stopped"];
const code: Name[] = ["code-word", "code-text", "code-number", "code-name"];
const tinted: [Name, Name][] = [
  ["good", "good-tint"],
  ["soon", "soon-tint"],
  ["stopped", "stopped-tint"],
  ["ink", "good-tint"],
  ["ink", "soon-tint"],
  ["on-accent", "accent"],
];

describe.each([
  ["on paper", 0],
  ["in the dark", 1],
] as const)("colours %s", (_, theme) => {
  const of = (one: Name, other: Name) => contrast(colours[one][theme], colours[other][theme]);

  it.each([
    ...[...written, ...code].flatMap((name) => grounds.map((ground): [Name, Name] => [name, ground])),
    ...tinted,
  ])("%s is readable on %s", (name, ground) => {
    expect(of(name, ground)).toBeGreaterThanOrEqual(4.5);
  });

  it.each(grounds)("borders of fields and buttons are visible on %s", (ground) => {
    expect(of("edge", ground)).toBeGreaterThanOrEqual(3);
    expect(of("accent", ground)).toBeGreaterThanOrEqual(3);
  });
});

it("gives style sheets both themes of a colour", () => {
  expect(themeAsCss()).toContain("  --good-tint: light-dark(#e3f1ea, #17352a);\n");
});
