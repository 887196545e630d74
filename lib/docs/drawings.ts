/**
 * The drawings of the documents, by the name that their block of code has: in Markdown they are text, on a page a
 * picture.
 */
export const drawings: Record<string, string> = { "the-loop": theLoop() };

type Box = { x: number; y: number; wide: number; name: string; about: string; kind: string };

function theLoop(): string {
  const boxes: Box[] = [
    { x: 250, y: 12, wide: 200, name: "Ask", about: "GET /api/entitlement", kind: "start" },
    { x: 12, y: 150, wide: 200, name: "Run", about: "200 with ok: true", kind: "good" },
    {
      x: 250,
      y: 150,
      wide: 200,
      name: "Keep the last yes",
      about: "429, 503, no network, no JSON",
      kind: "soon",
    },
    { x: 488, y: 150, wide: 200, name: "Stop, and say why", about: "403, not_configured", kind: "stopped" },
    { x: 488, y: 12, wide: 200, name: "Sign in again", about: "401: the token is over", kind: "stopped" },
  ];
  const arrows = [
    ["M262 78 C190 96 130 112 118 142", "", 0, 0],
    ["M60 148 C50 80 120 44 242 42", "before recheckAfterSeconds", 48, 34],
    ["M336 80 V142", "", 0, 0],
    ["M366 148 V86", "Retry-After, a little later", 378, 118],
    ["M440 78 C520 96 560 112 580 142", "", 0, 0],
    ["M452 36 H480", "", 0, 0],
    ["M488 56 H458", "a new token", 428, 0],
  ] as const;
  const drawn = boxes.map(
    ({ x, y, wide, name, about, kind }) =>
      `<g class="state ${kind}"><rect x="${x}" y="${y}" width="${wide}" height="64" rx="10"/><text x="${x + wide / 2}" y="${y + 28}">${name}</text><text class="about" x="${x + wide / 2}" y="${y + 48}">${about}</text></g>`,
  );
  const ways = arrows.map(([path, words, x, y]) => {
    const label = words && y > 0 ? `<text class="words" x="${x}" y="${y}">${words}</text>` : "";
    return `<path class="arrow" d="${path}" marker-end="url(#arrow-head)"/>${label}`;
  });
  return `<svg class="loop" viewBox="0 0 700 228" role="img" aria-label="The loop of a client, as the list below tells it."><defs><marker id="arrow-head" viewBox="0 0 10 10" refX="8" refY="5" markerWidth="7" markerHeight="7" orient="auto-start-reverse"><path class="head" d="M0 0 L10 5 L0 10 z"/></marker></defs>${ways.join("")}${drawn.join("")}</svg>\n`;
}
