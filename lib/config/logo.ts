import { colours } from "@/lib/config/theme";

/** The logo: the corner of an office in two strokes, on a 32 × 32 grid. */
export const strokes = { wall: "M7 8.5h18.5", window: "M23.5 8.5V25" } as const;

/** The logo on a tile, as an SVG file: the favicon and the app icon. */
export function logoAsSvg(): string {
  const [green] = colours.accent;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><title>Corner Office</title>`,
    `<rect width="32" height="32" rx="7" fill="${green}"/>`,
    `<path d="${strokes.wall}" stroke="#fff" stroke-width="4" fill="none"/>`,
    `<path d="${strokes.window}" stroke="#9fe3c6" stroke-width="4" fill="none"/>`,
    `</svg>\n`,
  ].join("");
}
