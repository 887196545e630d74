/*
 * The picture of the idea: an office seen from above its near corner. Assistants at their desks; in the corner by the
 * windows the CEO's desk, and on it the letter that waits for a word.
 */

type Point = readonly [x: number, y: number, z: number];

const unit = 32;

/** Where a point of the room is on the picture: an isometric projection. */
function at([x, y, z]: Point): string {
  const across = (x - y) * Math.cos(Math.PI / 6) * unit;
  const down = ((x + y) / 2 - z) * unit;
  return `${across.toFixed(1)},${down.toFixed(1)}`;
}

function Face({ points, is }: { points: readonly Point[]; is: string }) {
  return <polygon className={is} points={points.map(at).join(" ")} />;
}

type BoxProps = { from: Point; size: readonly [wide: number, deep: number, high: number]; is?: string };

/** A box: its top and the two sides that one sees. */
function Box({ from: [x, y, z], size: [wide, deep, high], is = "" }: BoxProps) {
  const [right, near, top] = [x + wide, y + deep, z + high];
  return (
    <>
      <Face
        is={`left ${is}`}
        points={[
          [x, near, z],
          [right, near, z],
          [right, near, top],
          [x, near, top],
        ]}
      />
      <Face
        is={`right ${is}`}
        points={[
          [right, y, z],
          [right, near, z],
          [right, near, top],
          [right, y, top],
        ]}
      />
      <Face
        is={`top ${is}`}
        points={[
          [x, y, top],
          [right, y, top],
          [right, near, top],
          [x, near, top],
        ]}
      />
    </>
  );
}

const [wide, deep, high] = [9.6, 9.2, 3.7];

const desks = [
  [6.4, 2.2],
  [2.1, 6.3],
  [6.4, 6.3],
] as const;

export function Drawing() {
  return (
    <svg
      className="drawing"
      viewBox="-264 -124 540 434"
      role="img"
      aria-label="An office. Three assistants work at their desks. On the CEO’s desk, in the corner by the windows, a letter waits for approval."
    >
      <Room />
      <path className="way" d={wayFrom([6.2, 3.2, 0], [5.4, 3.4, 0], [4.9, 3.3, 0])} />
      <path className="way" d={wayFrom([3.2, 5, 0], [3.1, 4.6, 0], [3, 4.1, 0])} />
      <path className="way" d={wayFrom([6.3, 5.9, 0], [5.6, 5.3, 0], [4.7, 4.2, 0])} />
      <Person on={[3.3, 1.3, 0.6]} is="ceo" />
      <Desk at={[1.2, 2.1]} size={[3.4, 1.6]} />
      <Letter at={[2.6, 2.35, 1.1]} size={[1.5, 1]} />
      <Seal on={[3.35, 2.9, 1.1]} />
      <Question over={[3.35, 2.9, 1.1]} />
      {desks.map(([x, y]) => (
        <g key={`${x} ${y}`}>
          <Person on={[x + 0.95, y - 0.5, 0.6]} is="person" />
          <Desk at={[x, y]} size={[2.5, 1.3]} />
          <Laptop at={[x + 0.4, y]} />
          <Letter at={[x + 1.65, y + 0.25, 1.1]} size={[0.55, 0.75]} />
        </g>
      ))}
    </svg>
  );
}

/** The floor, and the two walls that meet in the corner. */
function Room() {
  return (
    <>
      <Face
        is="wall"
        points={[
          [0, 0, 0],
          [0, deep, 0],
          [0, deep, high],
          [0, 0, high],
        ]}
      />
      <Face
        is="wall lit"
        points={[
          [0, 0, 0],
          [wide, 0, 0],
          [wide, 0, high],
          [0, 0, high],
        ]}
      />
      <Face
        is="floor"
        points={[
          [0, 0, 0],
          [wide, 0, 0],
          [wide, deep, 0],
          [0, deep, 0],
        ]}
      />
      {[0.7, 2.7].map((by) => (
        <g key={by}>
          <Face
            is="pane"
            points={[
              [0, by, 1.2],
              [0, by + 1.6, 1.2],
              [0, by + 1.6, 3.1],
              [0, by, 3.1],
            ]}
          />
          <Face
            is="pane"
            points={[
              [by, 0, 1.2],
              [by + 1.6, 0, 1.2],
              [by + 1.6, 0, 3.1],
              [by, 0, 3.1],
            ]}
          />
        </g>
      ))}
    </>
  );
}

function Person({ on, is }: { on: Point; is: string }) {
  const [x, y] = at(on).split(",");
  return (
    <g className={is} transform={`translate(${x} ${y})`}>
      <path d="M-14 6 V-15 a14 14 0 0 1 28 0 V6 a14 6 0 0 1 -28 0z" />
      <circle cy="-41" r="10.5" />
    </g>
  );
}

type DeskProps = { at: readonly [x: number, y: number]; size: readonly [wide: number, deep: number] };

function Desk({ at: [x, y], size: [across, down] }: DeskProps) {
  return (
    <>
      <Box from={[x + 0.05, y + down - 0.2, 0]} size={[0.16, 0.16, 0.95]} />
      <Box from={[x + across - 0.2, y + down - 0.2, 0]} size={[0.16, 0.16, 0.95]} />
      <Box from={[x + across - 0.2, y + 0.05, 0]} size={[0.16, 0.16, 0.95]} />
      <Box from={[x, y, 0.95]} size={[across, down, 0.15]} />
    </>
  );
}

function Laptop({ at: [x, y] }: { at: readonly [x: number, y: number] }) {
  return (
    <>
      <Face
        is="left"
        points={[
          [x, y + 0.15, 1.1],
          [x + 0.95, y + 0.15, 1.1],
          [x + 0.95, y + 0.75, 1.1],
          [x, y + 0.75, 1.1],
        ]}
      />
      <Face
        is="top"
        points={[
          [x, y + 0.75, 1.1],
          [x + 0.95, y + 0.75, 1.1],
          [x + 0.95, y + 0.95, 1.75],
          [x, y + 0.95, 1.75],
        ]}
      />
    </>
  );
}

/** A sheet that lies on a desk, folded like an envelope where it is large enough. */
function Letter({ at: [x, y, z], size: [across, down] }: { at: Point; size: readonly [number, number] }) {
  const [right, near] = [x + across, y + down];
  const flap: Point[] = [
    [x, y, z],
    [x + across / 2, y + down * 0.55, z],
    [right, y, z],
  ];
  return (
    <>
      <Face
        is="letter"
        points={[
          [x, y, z],
          [right, y, z],
          [right, near, z],
          [x, near, z],
        ]}
      />
      {across > 1 && <polyline points={flap.map(at).join(" ")} />}
    </>
  );
}

/** That which waits is the one thing in the room that is as green as the CEO. */
function Seal({ on }: { on: Point }) {
  const [x, y] = at(on).split(",");
  return <ellipse className="waits" cx={x} cy={y} rx="6" ry="3.6" />;
}

/** Yes or no: what the letter waits for. */
function Question({ over }: { over: Point }) {
  const [x, y] = at(over).split(",").map(Number);
  return (
    <g transform={`translate(${(x ?? 0) - 5} ${(y ?? 0) - 15})`}>
      <path
        className="letter"
        d="M0 8 l-8 -12 h-66 a7 7 0 0 1 -7 -7 v-22 a7 7 0 0 1 7 -7 h68 a7 7 0 0 1 7 7z"
      />
      <rect className="waits" x="-74" y="-31" width="32" height="18" rx="4" />
      <rect className="letter" x="-37" y="-31" width="28" height="18" rx="4" />
      <path className="tick" d="M-64 -22 l4 4 7 -8" />
    </g>
  );
}

function wayFrom(from: Point, by: Point, to: Point): string {
  return `M${at(from)} Q${at(by)} ${at(to)}`;
}
