type Box = { x: number; y: number; name: string; about: string; kind: string };
/** Words beside an arrow begin at their point. */
type Arrow = { path: string; isBothWays?: true; words?: { text: string; x: number; y: number } };
type Drawing = {
  name: string;
  size: [wide: number, high: number];
  boxWide: number;
  boxes: Box[];
  arrows: Arrow[];
};

const says = {
  ask: { name: "Ask", about: "GET /api/entitlement", kind: "start" },
  run: { name: "Run", about: "200 with ok: true", kind: "good" },
  keep: { name: "Keep the last yes", about: "429, 503, no network, no JSON", kind: "soon" },
  stop: { name: "Stop, and say why", about: "403, not_configured", kind: "stopped" },
  signIn: { name: "Sign in again", about: "401: the token is over", kind: "stopped" },
};

const wide: Drawing = {
  name: "wide",
  size: [700, 228],
  boxWide: 200,
  boxes: [
    { x: 250, y: 12, ...says.ask },
    { x: 12, y: 150, ...says.run },
    { x: 250, y: 150, ...says.keep },
    { x: 488, y: 150, ...says.stop },
    { x: 488, y: 12, ...says.signIn },
  ],
  arrows: [
    { path: "M262 78 C190 96 130 112 118 142" },
    { path: "M60 148 C50 80 120 44 242 42", words: { text: "before recheckAfterSeconds", x: 48, y: 34 } },
    { path: "M336 80 V142" },
    { path: "M366 148 V86", words: { text: "Retry-After, a little later", x: 378, y: 118 } },
    { path: "M440 78 C520 96 560 112 580 142" },
    { path: "M458 42 H480", isBothWays: true },
  ],
};

/** The same for a phone. */
const narrow: Drawing = {
  name: "narrow",
  size: [340, 332],
  boxWide: 152,
  boxes: [
    { x: 94, y: 2, ...says.ask },
    { x: 4, y: 140, ...says.run },
    { x: 184, y: 140, ...says.keep, about: "429, 503, no answer" },
    { x: 4, y: 264, ...says.signIn },
    { x: 184, y: 264, ...says.stop },
  ],
  arrows: [
    { path: "M122 70 C112 96 108 108 106 132" },
    { path: "M34 138 C34 90 50 48 86 40", words: { text: "in time", x: 2, y: 72 } },
    { path: "M218 70 C228 96 232 108 234 132" },
    { path: "M306 138 C306 90 290 48 254 40", words: { text: "later", x: 258, y: 112 } },
    { path: "M165 74 C166 180 166 286 162 286", isBothWays: true },
    { path: "M175 70 C174 180 174 308 178 308" },
  ],
};

/**
 * The drawings of the documents, by the name that their block of code has: in Markdown they are text, on a page a
 * picture.
 */
export const drawings: Record<string, string> = { "the-loop": `${draw(wide)}${draw(narrow)}\n` };

function draw({ name, size, boxWide, boxes, arrows }: Drawing): string {
  const head = `head-${name}`;
  const drawn = boxes.map(({ x, y, name, about, kind }) => {
    const middle = x + boxWide / 2;
    return `<g class="state ${kind}"><rect x="${x}" y="${y}" width="${boxWide}" height="64" rx="10"/><text x="${middle}" y="${y + 28}">${name}</text><text class="about" x="${middle}" y="${y + 48}">${about}</text></g>`;
  });
  const ways = arrows.map(({ path, isBothWays, words }) => {
    const start = isBothWays ? ` marker-start="url(#${head})"` : "";
    const label = words ? `<text class="words" x="${words.x}" y="${words.y}">${words.text}</text>` : "";
    return `<path class="arrow" d="${path}"${start} marker-end="url(#${head})"/>${label}`;
  });
  return `<svg class="loop ${name}" viewBox="0 0 ${size.join(" ")}" role="img" aria-label="The loop of a client, as the list below tells it."><defs><marker id="${head}" viewBox="0 0 10 10" refX="8" refY="5" markerWidth="7" markerHeight="7" orient="auto-start-reverse"><path class="head" d="M0 0 L10 5 L0 10 z"/></marker></defs>${ways.join("")}${drawn.join("")}</svg>`;
}
